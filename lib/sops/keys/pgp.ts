import { setImmediate } from "node:timers/promises";
import type { PrivateKey } from "openpgp";
import type { KeySource, Recipient } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";

/**
 * The limit for the keys of all `*.asc` entries of a Secret together. A key is tried only if the message names it, or if it hides its
 * recipients.
 */
export const maxKeys = 100;
/** A message for 20 recipients with RSA keys of 8,192 bits takes less than 32 KiB. */
export const maxMessageChars = 64 * 1024;
/** Recipients of one message that a key may be: sops writes one message for each key. */
export const maxRecipientsOfKey = 4;
/**
 * The limit for a key other than an elliptic curve. An 8,192-bit key takes 50 ms to open a message, and one of twice the length eight
 * times as long.
 */
export const maxKeyBits = 8_192;
/** A data key has 32 bytes; a compressed message may hold more, but no bomb. */
export const maxPlainBytes = 64 * 1024;

/**
 * The private keys of an entry `*.asc`: one or more armored blocks. The library is loaded only here, as a chunk of its own (ADR 0035).
 * Public keys are left out, as gpg imports them without use. Throws a {@link SopsFault} if a block cannot be read, or if there is none.
 */
export async function readPgpKeys(text: string): Promise<readonly PrivateKey[]> {
  const { readPrivateKeys } = await import("openpgp");
  const blocks = text.split(/^(?=-----BEGIN PGP )/m).filter((block) => block.startsWith("-----BEGIN PGP "));
  if (blocks.length === 0) throw unimported("no valid OpenPGP data found");
  const keys: PrivateKey[] = [];
  for (const armoredKeys of blocks) {
    const title = /^-----BEGIN PGP ([A-Z ]{1,30})-----/.exec(armoredKeys)?.[1];
    if (title === "PUBLIC KEY BLOCK") continue;
    if (title !== "PRIVATE KEY BLOCK") throw unimported("a block is neither a private nor a public key");
    try {
      keys.push(...(await readPrivateKeys({ armoredKeys })));
    } catch {
      // The library's message may quote what it has read.
      throw unimported("a private key block is damaged or of a kind that is not supported");
    }
    if (keys.length > maxKeys) throw unimported(`there are more than ${maxKeys} keys`);
    if (keys.some(isTooLong)) throw unimported(`a key has more than ${maxKeyBits} bits`);
  }
  return keys;
}

function isTooLong(key: PrivateKey): boolean {
  return key.getKeys().some((part) => (part.getAlgorithmInfo().bits ?? 0) > maxKeyBits);
}

function unimported(why: string): SopsFault {
  return new SopsFault(`failed to import armored key data into GnuPG keyring: ${why}`);
}

/** Opens recipients of kind `pgp`. A key opens what was encrypted for it or one of its subkeys, also once it is expired or revoked. */
export function pgpKeySource(keys: readonly PrivateKey[]): KeySource {
  return {
    async open(recipient, signal) {
      if (recipient.kind !== "pgp") return undefined;
      signal.throwIfAborted();
      if (recipient.enc.length > maxMessageChars) {
        throw undecrypted(`the PGP message has more than ${maxMessageChars} characters`);
      }
      return openMessage(recipient, keys, signal);
    },
  };
}

async function openMessage(
  { enc, fingerprint }: Extract<Recipient, { kind: "pgp" }>,
  keys: readonly PrivateKey[],
  signal: AbortSignal,
): Promise<Uint8Array> {
  const openpgp = await import("openpgp");
  const read = () =>
    openpgp.readMessage({ armoredMessage: enc }).catch(() => {
      throw undecrypted("it is not an armored PGP message");
    });
  const ids = (await read()).getEncryptionKeyIDs();
  // Every key has the id of a recipient that is not named (gpg --hidden-recipient).
  const recipientsOf = (key: PrivateKey): number => ids.filter((id) => key.getKeys(id).length > 0).length;
  const fitting = keys.filter((key) => recipientsOf(key) > 0);
  if (fitting.some((key) => recipientsOf(key) > maxRecipientsOfKey)) {
    throw undecrypted(`more than ${maxRecipientsOfKey} recipients of the message may be the same key`);
  }
  let why = `no private key for ${JSON.stringify(fingerprint.slice(0, 100))}`;
  for (const key of fitting) {
    // Each key computes for a while, and hidden recipients have all of them tried.
    await setImmediate();
    signal.throwIfAborted();
    const config = { maxDecompressedMessageSize: maxPlainBytes };
    try {
      // The message is read again for each key: trying one consumes its packets.
      const options = { message: await read(), decryptionKeys: key, format: "binary", config } as const;
      // Its declared type is of a module that is not there.
      const opened: { readonly data: unknown } = await openpgp.decrypt(options);
      const { data } = opened;
      if (data instanceof Uint8Array && data.length > 0) return data;
      why = "zero bytes returned";
    } catch {
      const id = key.getKeyID().toHex().toUpperCase();
      why = isLocked(key)
        ? `private key ${id} has a passphrase: store it without one`
        : `private key ${id} does not open the message`;
    }
  }
  throw undecrypted(why);
}

/** Whether a secret part of the key is behind a passphrase; a primary key that was left out of the export is not. */
function isLocked(key: PrivateKey): boolean {
  return key.getKeys().some(({ keyPacket }) => {
    if (!("isDummy" in keyPacket) || keyPacket.isDummy()) return false;
    return keyPacket.isDecrypted() !== true;
  });
}

function undecrypted(why: string): SopsFault {
  return new SopsFault(`could not decrypt data key with PGP key: ${why}`);
}
