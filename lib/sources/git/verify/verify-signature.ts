import { GitSignatureFault } from "./git-signature-fault.ts";
import { verifyPgpSignature } from "./pgp-signature.ts";
import { armors, type SignedObject } from "./signed-object.ts";
import { verifySshSignature } from "./ssh-signature.ts";

/** The limit for the public keys together: those of some hundred people. Half of what a Secret holds, since reading them takes its time. */
export const maxKeyBytes = 512 * 1024;

/** The limit for one signature in armor. The longest RSA keys have about 3 KiB. */
export const maxSignatureBytes = 64 * 1024;

/**
 * Verifies the signature of a commit or tag by the public keys of a Secret (reference 2.7). An entry `*.sshpub` holds SSH keys
 * in the format of authorized_keys; every other entry holds PGP keys in armor. The signature must be made by one of the keys,
 * which is valid at `now` (milliseconds since 1970): neither expired nor revoked.
 *
 * @returns `keyId`: the id of the primary PGP key (16 upper-case hex digits), or the fingerprint `SHA256:…` of the SSH key
 * @throws {GitSignatureFault} if nothing is proven
 */
export async function verifySignature(
  { type, payload, signature }: SignedObject,
  keys: ReadonlyMap<string, string>,
  now: number,
): Promise<{ readonly keyId: string }> {
  checkSizes(signature, keys);
  const armored = signature.trim();
  const kind = signatureType(armored);
  // In the order of their names, so that the same fault has the same text.
  const entries = [...keys].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const valuesOf = (isSsh: boolean): string[] =>
    entries.filter(([name]) => name.endsWith(".sshpub") === isSsh).map(([, value]) => value);
  switch (kind) {
    case "openpgp": {
      const rings = valuesOf(false);
      if (rings.length === 0) throw missing("PGP", ".asc");
      return said(`unable to verify Git ${type}`, verifyPgpSignature(payload, armored, rings, now));
    }
    case "ssh": {
      const files = valuesOf(true);
      if (files.length === 0) throw missing("SSH", ".sshpub");
      return said(`unable to verify Git ${type} SSH signature`, verifySshSignature(payload, armored, files));
    }
    case "empty":
    case "unknown":
    case "x509":
      throw new GitSignatureFault(`unsupported signature type: ${kind}`);
  }
}

/** The type of the signature by its armor. */
function signatureType(signature: string): keyof typeof armors | "empty" | "unknown" {
  if (signature === "") return "empty";
  const types = ["openpgp", "ssh", "x509"] as const;
  return types.find((type) => signature.startsWith(armors[type])) ?? "unknown";
}

function checkSizes(signature: string, keys: ReadonlyMap<string, string>): void {
  if (signature.length > maxSignatureBytes) {
    throw new GitSignatureFault(`the signature has more than ${maxSignatureBytes} bytes`);
  }
  // Several signatures are not one: git refuses them, since a reader could take either for the verified one.
  const begins = signature.split("\n").filter((line) => line.startsWith("-----BEGIN "));
  if (begins.length > 1) {
    throw new GitSignatureFault(`there are ${begins.length} signatures, but only one can be verified`);
  }
  const bytes = [...keys.values()].reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  if (bytes > maxKeyBytes) {
    throw new GitSignatureFault(
      `the secret holds ${bytes} bytes of public keys, but at most ${maxKeyBytes} are read; remove keys that no longer sign`,
    );
  }
}

function missing(what: string, suffix: string): GitSignatureFault {
  return new GitSignatureFault(
    `${what} signature detected but no ${what} public keys found in secret (keys with ${suffix} suffix)`,
  );
}

async function said(what: string, keyId: Promise<string>): Promise<{ keyId: string }> {
  try {
    return { keyId: await keyId };
  } catch (error) {
    if (!(error instanceof GitSignatureFault)) throw error;
    throw new GitSignatureFault(`${what}: ${error.message}`, { cause: error });
  }
}
