import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { messageOf } from "../../../core/failure.ts";
import type { KeyReader } from "../decrypt-ssh-key.ts";
import { PassphraseMissing, parseSshKey, type SshKey } from "../ssh-key.ts";
import type { SignCommit } from "./git-clone.ts";
import { SigningKeyFault, type SigningSecret } from "./signing-key.ts";

/** A shorter key of RSA is within reach of an attacker, and no one takes its signatures. */
const minRsaBits = 2_048;

const magic = Buffer.from("SSHSIG");
/** What git signs under. */
const namespace = "git";
const hash = "sha512";

/** Signs by the private key in `identity` of a Secret, as `ssh-keygen -Y sign` does (OpenSSH, PROTOCOL.sshsig). Throws a {@link SigningKeyFault}. */
export async function sshSigner({ name, data }: SigningSecret, reader: KeyReader): Promise<SignCommit> {
  const identity = data.get("identity");
  if (identity === undefined) {
    throw new SigningKeyFault(`signing key secret '${name}' does not contain an 'identity' key`);
  }
  const key = await readKey(identity, data.get("password") ?? "", name, reader);
  return async (commit, signal) => {
    signal.throwIfAborted();
    const digest = createHash(hash).update(commit).digest();
    const signature = key.sign(Buffer.concat([magic, ...[namespace, "", hash, digest].map(wireString)]));
    const version = Buffer.from([0, 0, 0, 1]);
    return armored(Buffer.concat([magic, version, ...[key.blob, namespace, "", hash, signature].map(wireString)]));
  };
}

interface Signer {
  /** The public key, as it stands in base64 in authorized_keys. */
  readonly blob: Buffer;
  /** Answers the format of the signature, then what the format says. */
  sign(bytes: Buffer): Buffer;
}

async function readKey(identity: string, password: string, name: string, reader: KeyReader): Promise<Signer> {
  try {
    return signerOf(await parseSshKey(identity, password, reader));
  } catch (error) {
    reader.signal.throwIfAborted();
    if (error instanceof PassphraseMissing) {
      const why = `can not use passphrase protected signing key without 'password' field present in secret ${name}`;
      throw new SigningKeyFault(why, { cause: error });
    }
    throw new SigningKeyFault(`could not parse SSH signing key from secret '${name}': ${messageOf(error)}`, {
      cause: error,
    });
  }
}

const ecdsaHashes: Readonly<Record<string, string>> = {
  "ecdsa-sha2-nistp256": "sha256",
  "ecdsa-sha2-nistp384": "sha384",
  "ecdsa-sha2-nistp521": "sha512",
};

function signerOf(parsed: SshKey): Signer {
  const { type } = parsed;
  const blob = parsed.getPublicSSH();
  const signer = (format: string, make: (bytes: Buffer) => Buffer): Signer => ({
    blob,
    sign: (bytes) => Buffer.concat([format, make(bytes)].map(wireString)),
  });
  if (type === "ssh-ed25519") {
    const key = privateKey(parsed);
    return signer(type, (bytes) => sign(null, bytes, key));
  }
  if (type === "ssh-rsa") {
    const key = privateKey(parsed);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (bits < minRsaBits) {
      throw new Error(`an RSA key of ${bits} bits is too weak to sign, it must have ${minRsaBits} bits or more`);
    }
    return signer("rsa-sha2-512", (bytes) => sign("sha512", bytes, key));
  }
  const curveHash = ecdsaHashes[type];
  if (curveHash === undefined) {
    throw new Error(`a key of type ${JSON.stringify(type)} cannot sign commits: use ed25519, ECDSA or RSA`);
  }
  const key = privateKey(parsed);
  return signer(type, (bytes) => {
    const value = sign(curveHash, bytes, { key, dsaEncoding: "ieee-p1363" });
    const half = value.length / 2;
    return Buffer.concat([value.subarray(0, half), value.subarray(half)].map((part) => wireString(mpint(part))));
  });
}

function privateKey(parsed: SshKey): KeyObject {
  return createPrivateKey(parsed.getPrivatePEM());
}

/** A number above zero, as SSH writes it (RFC 4251, section 5). */
function mpint(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(first === -1 ? bytes.length : first);
  return (digits[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.alloc(1), digits]) : digits;
}

function wireString(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function armored(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,70}/g) ?? [];
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join("\n")}\n-----END SSH SIGNATURE-----\n`;
}
