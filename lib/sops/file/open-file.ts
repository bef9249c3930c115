import { checkMac, decryptTree } from "../decrypt-tree.ts";
import { formatLabel, type SopsFormat } from "../format.ts";
import { SopsFault } from "../sops-fault.ts";
import type { Steps } from "../steps.ts";
import { storeOf } from "../stores/stores.ts";
import type { Branch } from "../tree.ts";
import type { EncryptedFile } from "./load-file.ts";

export interface FileFormats {
  readonly input: SopsFormat;
  readonly output: SopsFormat;
  /** Leaves the MAC unchecked, as Flux does. */
  readonly ignoreMac?: boolean;
}

/** The documents of a file, decrypted, with their MAC verified. Throws a {@link SopsFault} in Flux's words, without plaintext. */
export function* openFile(
  { branches, metadata }: EncryptedFile,
  ignoreMac: boolean,
  dataKey: Uint8Array,
): Steps<readonly Branch[]> {
  let step = "error decrypting sops tree: Error walking tree";
  try {
    const tree = yield* decryptTree(branches, metadata, dataKey);
    step = "failed to verify sops data integrity";
    if (!ignoreMac) checkMac(metadata, tree.mac, dataKey);
    return tree.branches;
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    throw new SopsFault(`${step}: ${error.message}`, { cause: error });
  }
}

/** Prints documents as sops does. Throws a {@link SopsFault} for what the format has no form for. */
export function emitFile(branches: readonly Branch[], { input, output }: FileFormats): Uint8Array {
  try {
    const emitted = storeOf(output).emit(branches);
    return typeof emitted === "string" ? Buffer.from(emitted) : emitted;
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    const formats = `encrypted ${formatLabel[input]} file as decrypted ${formatLabel[output]}`;
    throw new SopsFault(`failed to emit ${formats}: ${error.message}`, { cause: error });
  }
}
