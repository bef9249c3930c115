import type { Key, Subkey } from "openpgp";
import { type TimeSlices, timeSlices } from "../../../core/concurrency.ts";
import { GitSignatureFault } from "./git-signature-fault.ts";

/** How far the clock of the one who signs may be ahead of ours. */
export const maxSkewMs = 5 * 60_000;

/** Signatures in one armor, by several keys at once. */
const maxPackets = 16;

const noMatch = "unable to verify payload with any of the given key rings: no matching key";

/**
 * Verifies a detached OpenPGP signature in armor by key rings in armor. The library is loaded only here: it is large, and its
 * licence (LGPL) asks that it can be replaced, so it is shipped as a file of its own (ADR 0035).
 *
 * A key proves nothing once it is expired or revoked, whenever it signed: a thief dates a signature as he likes.
 * @returns the id of the primary key, of whichever of its subkeys the signature is
 */
export async function verifyPgpSignature(
  payload: Uint8Array,
  armored: string,
  rings: readonly string[],
  now: number,
): Promise<string> {
  const openpgp = await import("openpgp");
  const slices = timeSlices();
  const { keys, fault } = await readRings(rings, slices);
  if (keys.length === 0 && fault !== undefined) {
    throw new GitSignatureFault(`unable to read armored key ring: ${fault}`);
  }
  const signature = await openpgp.readSignature({ armoredSignature: armored }).catch((error: unknown) => {
    throw new GitSignatureFault(noMatch, { cause: error });
  });
  if (signature.packets.length > maxPackets) {
    throw new GitSignatureFault(`there are more than ${maxPackets} signatures in one armor`);
  }
  const message = await openpgp.createMessage({ binary: payload });
  for (const key of keys) {
    if (slices.isOver()) await slices.pause();
    const options = { message, signature, verificationKeys: key, format: "binary", config } as const;
    const { signatures } = await openpgp.verify({ ...options, date: new Date(now + maxSkewMs) });
    for (const { keyID, signature: made, verified } of signatures) {
      try {
        await verified;
        const created = (await made).packets[0]?.created?.getTime() ?? now;
        // Throws unless this very key may sign now, and its primary key is valid now. A signature whose maker's clock is ahead
        // may be of a key that, by our clock, does not exist yet.
        await key.getSigningKey(keyID, new Date(Math.max(now, created)), undefined, { ...openpgp.config, ...config });
        return key.getKeyID().toHex().toUpperCase();
      } catch (error) {
        // Otherwise it is not by this key: the library throws for each thing that is wrong.
        if (isOfMissingCurve(error)) {
          throw new GitSignatureFault("signatures on the curves of Brainpool are not supported", { cause: error });
        }
      }
    }
  }
  throw new GitSignatureFault(noMatch);
}

/** For Brainpool's curves the library asks for a package that it does not bring along. */
function isOfMissingCurve(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND";
}

/**
 * The library holds a key to its self-signature of the time of signing. A signer who prolongs the key replaces that one, so the
 * old commits would fail; what counts is that the key is valid now.
 */
const config = { allowInsecureVerificationWithReformattedKeys: true };

/**
 * All keys of all rings, without those of DSA, and why the first ring that cannot be read has none. The library refuses DSA too,
 * but only after it has computed with the numbers of the key, which may be long enough for minutes.
 */
async function readRings(
  rings: readonly string[],
  slices: TimeSlices,
): Promise<{ keys: readonly Key[]; fault: string | undefined }> {
  const { enums, readKeys } = await import("openpgp");
  const isDsa = ({ keyPacket }: Key | Subkey): boolean => keyPacket.algorithm === enums.publicKey.dsa;
  const keys: Key[] = [];
  let fault: string | undefined;
  for (const ring of rings) {
    const blocks = ring.split(/^(?=-----BEGIN )/m).filter((block) => block.startsWith("-----BEGIN "));
    if (blocks.length === 0) fault ??= "openpgp: invalid argument: no armored data found";
    for (const armoredKeys of blocks) {
      if (slices.isOver()) await slices.pause();
      const title = /^-----BEGIN (.{1,100}?)-----/.exec(armoredKeys)?.[1];
      if (title !== "PGP PUBLIC KEY BLOCK" && title !== "PGP PRIVATE KEY BLOCK") {
        fault ??= `openpgp: invalid argument: expected public or private key block, got: ${title ?? ""}`;
        continue;
      }
      try {
        for (const key of await readKeys({ armoredKeys })) {
          const open = key.toPublic();
          open.subkeys = open.subkeys.filter((subkey) => !isDsa(subkey));
          if (isDsa(open)) fault ??= "openpgp: unsupported feature: a key of DSA";
          else keys.push(open);
        }
      } catch {
        fault ??= "openpgp: invalid data: the key block is damaged";
      }
    }
  }
  return { keys, fault };
}
