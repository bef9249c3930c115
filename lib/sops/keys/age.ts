import { messageOf } from "../../core/failure.ts";
import type { KeySource } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";
import { type AgeFile, openAgeFile, readAgeFile } from "./age-file.ts";
import { type X25519Identity, x25519FileKey, x25519Identity } from "./age-x25519.ts";
import { bech32 } from "./bech32.ts";

/** Identities of one decryption Secret. Each is tried for each recipient. */
export const maxIdentities = 64;
/** Pairs of a recipient of one data key and an identity that are tried: 0.1 ms each for X25519, 2 ms for a hybrid. */
export const maxTries = 1_024;
export const maxHybridTries = 64;
const [classic, hybrid] = ["AGE-SECRET-KEY-", "AGE-SECRET-KEY-PQ-"] as const;

/**
 * The identities in the text of an `*.agekey`: one a line, X25519 (`AGE-SECRET-KEY-1…`) or post-quantum hybrid
 * (`AGE-SECRET-KEY-PQ-1…`), lines with `#` are comments. Throws a {@link SopsFault} that shows none of them.
 */
export function ageIdentities(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length > maxIdentities) throw importFault(`more than ${maxIdentities} identities`);
  for (const line of lines) {
    if (line.startsWith("AGE-PLUGIN-")) throw importFault("plugins of age are not supported");
    const prefix = [classic, hybrid].find((known) => line.startsWith(`${known}1`));
    if (prefix === undefined) throw importFault("unknown identity type");
    if (bech32(line, prefix)?.length !== 32) throw importFault("malformed secret key");
  }
  return lines;
}

function importFault(text: string): SopsFault {
  return new SopsFault(`failed to parse and add to age identities: ${text}`);
}

/** Opens data keys that are encrypted for age, with identities of {@link ageIdentities}. */
export function ageKeys(identities: readonly string[]): KeySource {
  const own = identities.map(x25519Identity).filter((identity) => identity !== undefined);
  const others = identities.filter((identity) => identity.startsWith(hybrid));
  return {
    async open(recipient, signal) {
      if (recipient.kind !== "age" || identities.length === 0) return undefined;
      try {
        const file = readAgeFile(recipient.enc);
        const key = openX25519(file, own) ?? (await openHybrid(file, recipient.enc, others));
        signal.throwIfAborted();
        if (key !== undefined) return key;
      } catch (error) {
        if (!(error instanceof SopsFault)) throw error;
        throw openFault(messageOf(error));
      }
      throw openFault(
        identities.length === 1
          ? "identity did not match any of the recipients: incorrect identity for recipient block"
          : "no identity matched any of the recipients",
      );
    },
  };
}

function openX25519(file: AgeFile, identities: readonly X25519Identity[]): Uint8Array | undefined {
  refuseMoreTries(stanzasOf(file, "X25519") * identities.length, maxTries);
  const fileKey = x25519FileKey(file, identities);
  return fileKey === undefined ? undefined : openAgeFile(file, fileKey);
}

/** By age's own library, which is loaded only here: the curve is in Node, where it is twenty times as fast; the rest is not. */
async function openHybrid(
  file: AgeFile,
  armored: string,
  identities: readonly string[],
): Promise<Uint8Array | undefined> {
  const stanzas = stanzasOf(file, "mlkem768x25519");
  if (identities.length === 0 || stanzas === 0) return undefined;
  refuseMoreTries(stanzas * identities.length, maxHybridTries);
  const { armor, Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  try {
    return await decrypter.decrypt(armor.decode(armored.trim()));
  } catch (error) {
    if (messageOf(error).includes("no identity matched")) return undefined;
    // The library's texts are not ours to promise.
    throw new SopsFault("failed to read header: the encrypted data key is damaged");
  }
}

function stanzasOf({ stanzas }: AgeFile, kind: string): number {
  return stanzas.filter(({ words }) => words[0] === kind).length;
}

function refuseMoreTries(tries: number, most: number): void {
  if (tries > most) throw new SopsFault(`its recipients and the identities are ${tries} pairs, ${most} are tried`);
}

function openFault(text: string): SopsFault {
  return new SopsFault(`failed to create reader for decrypting sops data key with age: ${text}`);
}
