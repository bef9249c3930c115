import type { PrivateKey } from "openpgp";
import { messageOf } from "../../../core/failure.ts";
import { parseCommit } from "../git-object.ts";
import type { SignCommit } from "./git-clone.ts";
import { SigningKeyFault, type SigningSecret } from "./signing-key.ts";

/** Of `git.asc`. One key of RSA with subkeys and signatures by others has some 20 KiB. */
export const maxGpgKeyChars = 128 * 1024;
/** The limit for a key of RSA: one of 8,192 bits takes 50 ms to sign. */
const maxKeyBits = 8_192;
/** Of one key. */
const maxSubkeys = 32;

/**
 * Deriving a key by Argon2 takes as much memory and time as the key says, so it is refused. gpg uses other ways, which take at most 64 MiB
 * of hashing.
 */
const config = { maxArgon2MemoryExponent: 0 };

/**
 * Signs by the PGP key in `git.asc` of a Secret. The signature is dated as the commit is. The library is loaded only here (ADR 0035).
 * Throws a {@link SigningKeyFault}.
 *
 * @param now milliseconds since 1970: the key must be valid then
 */
export async function gpgSigner({ name, data }: SigningSecret, now: number): Promise<SignCommit> {
  const text = data.get("git.asc");
  if (text === undefined) throw new SigningKeyFault(`signing key secret '${name}' does not contain a 'git.asc' key`);
  const read = await readKey(text, name);
  const key = await unlocked(read, { name, passphrase: data.get("passphrase"), now });
  return async (commit, signal) => {
    signal.throwIfAborted();
    const openpgp = await import("openpgp");
    const message = await openpgp.createMessage({ binary: commit });
    const date = new Date(parseCommit(commit).committedAt * 1_000);
    try {
      const signed = await openpgp.sign({ message, signingKeys: key, detached: true, format: "object", date });
      return signed.armor();
    } catch (error) {
      throw new SigningKeyFault(`could not sign with the key from secret '${name}': ${messageOf(error)}`, {
        cause: error,
      });
    }
  };
}

async function readKey(text: string, name: string): Promise<PrivateKey> {
  const unreadable = (why: string, cause?: unknown): SigningKeyFault =>
    new SigningKeyFault(`could not read signing key from secret '${name}': ${why}`, { cause });
  if (text.length > maxGpgKeyChars) throw unreadable(`git.asc has more than ${maxGpgKeyChars} characters`);
  // As Flux, the first block.
  const [, block, title] = /^(-----BEGIN PGP ([A-Z ]{1,30})-----[\s\S]*?^-----END PGP )/m.exec(text) ?? [];
  if (block === undefined) throw unreadable("openpgp: invalid argument: no armored data found");
  if (title === "PUBLIC KEY BLOCK") {
    throw unreadable("git.asc is a public key: store the private one (gpg --export-secret-keys --armor)");
  }
  if (title !== "PRIVATE KEY BLOCK") {
    throw unreadable(`openpgp: invalid argument: expected public or private key block, got: PGP ${title}`);
  }
  const { readPrivateKeys } = await import("openpgp");
  let keys: readonly PrivateKey[];
  try {
    keys = await readPrivateKeys({ armoredKeys: `${block}PRIVATE KEY BLOCK-----\n` });
  } catch (error) {
    // The library's message may quote what it has read.
    throw unreadable("openpgp: invalid data: the key block is damaged or of a kind that is not supported", error);
  }
  const [key, ...others] = keys;
  if (key === undefined) throw unreadable("openpgp: invalid data: the key block has no private key");
  if (others.length > 0) {
    const why = "could not determine which signing key to use";
    throw new SigningKeyFault(`multiple entities read from secret '${name}', ${why}`);
  }
  if (key.subkeys.length > maxSubkeys) throw unreadable(`the key has more than ${maxSubkeys} subkeys`);
  // The library computes with its numbers before it refuses it, and they may be long enough for minutes.
  if (key.getKeys().some((part) => part.getAlgorithmInfo().algorithm.startsWith("dsa"))) {
    throw unreadable("openpgp: unsupported feature: a key of DSA");
  }
  if (key.getKeys().some((part) => (part.getAlgorithmInfo().bits ?? 0) > maxKeyBits)) {
    throw unreadable(`the key has more than ${maxKeyBits} bits`);
  }
  return key;
}

interface Lock {
  readonly name: string;
  readonly passphrase: string | undefined;
  readonly now: number;
}

/** The key with the part that signs and no other subkey, since each takes its time to decrypt. */
async function unlocked(key: PrivateKey, { name, passphrase, now }: Lock): Promise<PrivateKey> {
  const { config: defaults, decryptKey } = await import("openpgp");
  const part = await key.getSigningKey(undefined, new Date(now)).catch((error: unknown) => {
    throw new SigningKeyFault(`could not read signing key from secret '${name}': ${messageOf(error)}`, {
      cause: error,
    });
  });
  key.subkeys = key.subkeys.filter((subkey) => subkey === part);
  const { keyPacket } = part;
  if (!("decrypt" in keyPacket) || keyPacket.isDummy()) {
    throw new SigningKeyFault(
      `could not read signing key from secret '${name}': the private part that signs is not in it`,
    );
  }
  if (keyPacket.isDecrypted() === true) return key;
  if (passphrase === undefined) {
    const why = "can not use passphrase protected signing key without 'passphrase' field present in secret";
    throw new SigningKeyFault(`${why} ${name}`);
  }
  try {
    return await decryptKey({ privateKey: key, passphrase, config: { ...defaults, ...config } });
  } catch (error) {
    const isArgon = messageOf(error).includes("Argon2");
    const why = isArgon
      ? "its passphrase is derived by Argon2, which is not supported: export the key with gpg"
      : "openpgp: invalid data: private key checksum failure";
    throw new SigningKeyFault(`could not decrypt private key of the signing key present in secret ${name}: ${why}`, {
      cause: error,
    });
  }
}
