import type { DataKeys } from "../data-key.ts";
import { checkMac, decryptTree } from "../decrypt-tree.ts";
import { formatLabel, type SopsFormat } from "../format.ts";
import type { SopsMetadata } from "../metadata.ts";
import { SopsFault } from "../sops-fault.ts";
import { inTurns } from "../steps.ts";
import { storeOf } from "../stores/stores.ts";
import type { Branch } from "../tree.ts";
import { type EncryptedFile, loadFile } from "./load-file.ts";

export interface FileFormats {
  readonly input: SopsFormat;
  readonly output: SopsFormat;
  /** Leaves the MAC unchecked, as Flux does. */
  readonly ignoreMac?: boolean;
}

/**
 * Decrypts a file, verifies its MAC, and prints it as sops does. Throws a {@link SopsFault} in Flux's words, without plaintext,
 * or the reason of the signal.
 */
export async function decryptFile(
  bytes: Uint8Array,
  { input, output, ignoreMac = false }: FileFormats,
  keys: DataKeys,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const branches = await decrypted(await inTurns(loadFile(bytes, input), signal), ignoreMac, keys, signal);
  try {
    const emitted = storeOf(output).emit(branches);
    return typeof emitted === "string" ? Buffer.from(emitted) : emitted;
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    const formats = `encrypted ${formatLabel[input]} file as decrypted ${formatLabel[output]}`;
    throw new SopsFault(`failed to emit ${formats}: ${error.message}`, { cause: error });
  }
}

/**
 * Verifies the MAC of a whole file, all documents of it, and throws away what it has decrypted for that. Returns what the file
 * says about itself: an object that was built from it has the same `mac`. Throws like {@link decryptFile}.
 */
export async function verifyFile(
  bytes: Uint8Array,
  format: SopsFormat,
  keys: DataKeys,
  signal: AbortSignal,
): Promise<SopsMetadata> {
  const file = await inTurns(loadFile(bytes, format), signal);
  await decrypted(file, false, keys, signal);
  return file.metadata;
}

async function decrypted(
  { branches, metadata }: EncryptedFile,
  ignoreMac: boolean,
  keys: DataKeys,
  signal: AbortSignal,
): Promise<readonly Branch[]> {
  const dataKey = await keys.of(metadata, signal);
  const steps = decryptTree(branches, metadata, dataKey);
  const tree = await named("error decrypting sops tree: Error walking tree", () => inTurns(steps, signal));
  if (!ignoreMac) await named("failed to verify sops data integrity", () => checkMac(metadata, tree.mac, dataKey));
  return tree.branches;
}

async function named<Result>(step: string, run: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new SopsFault(`${step}: ${error.message}`, { cause: error });
  }
}
