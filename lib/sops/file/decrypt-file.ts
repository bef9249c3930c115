import type { DataKeys } from "../data-key.ts";
import type { SopsFormat } from "../format.ts";
import type { SopsMetadata } from "../metadata.ts";
import { inTurns } from "../steps.ts";
import { loadFile } from "./load-file.ts";
import { loadOffThread, offThreadBytes, openOffThread } from "./off-thread.ts";
import { emitFile, type FileFormats, openFile } from "./open-file.ts";

/**
 * Decrypts a file, verifies its MAC, and prints it as sops does. Throws a {@link SopsFault} in Flux's words, without plaintext,
 * or the reason of the signal.
 */
export async function decryptFile(
  bytes: Uint8Array,
  formats: FileFormats,
  keys: DataKeys,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { input, ignoreMac = false } = formats;
  if (bytes.length > offThreadBytes) {
    const dataKey = await keys.of(await loadOffThread(bytes, input, signal), signal);
    return openOffThread<Uint8Array>({ kind: "decrypt", bytes, formats, dataKey }, signal);
  }
  const file = await inTurns(loadFile(bytes, input), signal);
  const dataKey = await keys.of(file.metadata, signal);
  return emitFile(await inTurns(openFile(file, ignoreMac, dataKey), signal), formats);
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
  if (bytes.length > offThreadBytes) {
    const metadata = await loadOffThread(bytes, format, signal);
    const dataKey = await keys.of(metadata, signal);
    await openOffThread<undefined>({ kind: "verify", bytes, format, dataKey }, signal);
    return metadata;
  }
  const file = await inTurns(loadFile(bytes, format), signal);
  await inTurns(openFile(file, false, await keys.of(file.metadata, signal)), signal);
  return file.metadata;
}
