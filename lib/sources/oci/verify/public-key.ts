import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { SignatureFault } from "./signature-fault.ts";

/** A public key as cosign writes it: what it signs is hashed by SHA-256, Ed25519 apart. */
export interface PublicKey {
  /** Whether the signature is this key's, of these bytes. */
  verifies(signed: Uint8Array, signature: Uint8Array): boolean;
}

const armor = /-----BEGIN ([A-Z ]{1,40})-----[\s\S]+?-----END \1-----/;
const types = new Set(["PUBLIC KEY", "RSA PUBLIC KEY"]);

/** Reads an ECDSA, RSA or Ed25519 key in PEM. Throws a {@link SignatureFault} in cosign's words, with `where` at its end. */
export function parsePublicKey(text: string, where: string): PublicKey {
  const [block, type = ""] = armor.exec(text) ?? [];
  if (block === undefined) throw new SignatureFault(`PEM decoding failed; ${where}`);
  if (!types.has(type)) {
    const hint = "Are you passing the correct public key?";
    throw new SignatureFault(`unknown Public key PEM file type: ${type}. ${hint}; ${where}`);
  }
  const key = keyOf(block, where);
  // PKCS #1 v1.5 for RSA, ASN.1 for ECDSA; Ed25519 hashes by itself.
  const hash = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  return { verifies: (signed, signature) => verify(hash, signed, key, signature) };
}

const usable: ReadonlySet<string | undefined> = new Set(["ec", "ed25519", "rsa"]);
const curves: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

function keyOf(block: string, where: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(block);
  } catch (error) {
    throw new SignatureFault(`failed to parse the public key; ${where}`, { cause: error });
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const isUsable = usable.has(type) && (type !== "ec" || curves.has(details?.namedCurve));
  if (!isUsable) {
    throw new SignatureFault(`unsupported public key type: use ECDSA (P-256, P-384, P-521), RSA or Ed25519; ${where}`);
  }
  return key;
}
