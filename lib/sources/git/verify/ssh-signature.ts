import { createHash } from "node:crypto";
import { timeSlices } from "../../../core/concurrency.ts";
import { parseAuthorizedKeys } from "./authorized-keys.ts";
import { GitSignatureFault } from "./git-signature-fault.ts";
import { fingerprint, parsePublicKey, type SshPublicKey } from "./ssh-public-key.ts";
import { WireReader } from "./wire-reader.ts";

/** What git signs under. A signature of a file, a mail or a login by the same key proves nothing about a commit. */
const gitNamespace = "git";

const magic = "SSHSIG";
const hashes = ["sha256", "sha512"];

interface SshSignature {
  readonly key: SshPublicKey;
  readonly namespace: string;
  readonly hash: string;
  /** Its format, then what the format says. */
  readonly value: Buffer;
}

/**
 * Verifies a signature that `ssh-keygen -Y sign` made (OpenSSH, PROTOCOL.sshsig) by files of authorized_keys.
 * @returns the fingerprint of the key
 * @throws {GitSignatureFault}
 */
export async function verifySshSignature(
  payload: Uint8Array,
  armored: string,
  files: readonly string[],
): Promise<string> {
  const signature = await attempt("unable to unarmor SSH signature", async () => unarmor(armored));
  const slices = timeSlices();
  const faults = new Set<string>();
  let unreadable: GitSignatureFault | undefined;
  let isAnyRead = false;
  let own: { readonly fault: string | undefined } | undefined;
  for (const file of files) {
    let keys: readonly SshPublicKey[];
    try {
      keys = await attempt("unable to parse authorized keys", () => parseAuthorizedKeys(file, slices));
    } catch (error) {
      if (!(error instanceof GitSignatureFault)) throw error;
      unreadable ??= error;
      continue;
    }
    isAnyRead = true;
    for (const key of keys) {
      // The key inside a signature is what its maker says. Only a trusted one verifies.
      const isOwn = key.blob.equals(signature.key.blob);
      // Once: the same key in another line finds the same.
      if (isOwn) own ??= { fault: faultOf(payload, signature, key) };
      const fault = isOwn ? own?.fault : "public key does not match";
      if (fault === undefined) return fingerprint(key);
      faults.add(fault);
    }
  }
  if (!isAnyRead && unreadable !== undefined) throw unreadable;
  const why = ["no matching key", ...faults].join("\n");
  throw new GitSignatureFault(`unable to verify payload with any of the given authorized keys: ${why}`);
}

/** Why this trusted key has not signed the payload; undefined if it has. */
function faultOf(payload: Uint8Array, signature: SshSignature, trusted: SshPublicKey): string | undefined {
  if (signature.namespace !== gitNamespace) return "namespace does not match";
  const digest = createHash(signature.hash).update(payload).digest();
  const fields = [gitNamespace, "", signature.hash, digest].map(wireString);
  try {
    trusted.verify(Buffer.concat([Buffer.from(magic), ...fields]), signature.value);
    return undefined;
  } catch (error) {
    if (error instanceof GitSignatureFault) return error.message;
    throw error;
  }
}

function wireString(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function unarmor(armored: string): SshSignature {
  const body = /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\s]+)\n-----END SSH SIGNATURE-----$/.exec(
    armored,
  )?.[1];
  if (body === undefined) throw new GitSignatureFault("invalid PEM block");
  const reader = new WireReader(Buffer.from(body, "base64"));
  const begin = reader.take(magic.length).toString("latin1");
  if (begin !== magic) throw new GitSignatureFault(`invalid magic preamble: expected ${JSON.stringify(magic)}`);
  const version = reader.uint32();
  if (version !== 1) throw new GitSignatureFault(`unsupported signature version ${version}: expected 1`);
  const key = parsePublicKey(reader.bytes());
  const namespace = reader.text();
  reader.bytes(); // reserved: to be ignored
  const hash = reader.text();
  if (!hashes.includes(hash)) {
    throw new GitSignatureFault(
      `unsupported hash algorithm ${JSON.stringify(hash.slice(0, 100))}: must be "sha256" or "sha512"`,
    );
  }
  const value = reader.bytes();
  if (!reader.isAtEnd) throw new GitSignatureFault("ssh: trailing junk in signature");
  return { key, namespace, hash, value };
}

async function attempt<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof GitSignatureFault)) throw error;
    throw new GitSignatureFault(`${what}: ${error.message}`, { cause: error });
  }
}
