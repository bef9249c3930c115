import { setImmediate } from "node:timers/promises";
import { Failure, messageOf } from "../../core/failure.ts";
import type { FileTree } from "../../core/ports/engine.ts";
import { decryptFile } from "../../sops/file/decrypt-file.ts";
import { isEncrypted } from "../../sops/format.ts";
import { SopsFault } from "../../sops/sops-fault.ts";
import { inTurns } from "../../sops/steps.ts";
import { valuesOfFileSafely } from "../thread/off-thread.ts";
import { type Decrypter, faultOfFile } from "./decryption.ts";
import { encryptedSources, missingSource, type SourceFile, SourcesFault, UnreadableRoot } from "./encrypted-sources.ts";

/** The limit for one file, as in Flux. */
export const maxEncryptedFileBytes = 5 * 1024 * 1024;
/** The limit for all files of a build that are decrypted before it. */
export const maxSourceBytes = 32 * 1024 * 1024;

/** An artifact whose generators and patches read plain files. */
export interface DecryptedSources {
  /** The artifact, with the decrypted files in place of the encrypted ones. In memory alone. */
  readonly tree: FileTree;
  /** The values of the decrypted files: no text shows them. Empty if no file was encrypted. */
  readonly values: readonly string[];
  /** Why a build of this tree must not be used if the engine can build it after all. */
  readonly fault?: Failure;
}

/**
 * Decrypts the files that generators and patches read, before the build (reference 3.10). Each file is verified as a whole.
 *
 * @throws Failure `BuildFailed`
 */
export async function decryptSources(
  tree: FileTree,
  folder: string,
  components: readonly string[],
  decrypter: Decrypter,
  signal: AbortSignal,
): Promise<DecryptedSources> {
  try {
    return await decryptAll(tree, await inTurns(encryptedSources(tree, folder, components), signal), decrypter, signal);
  } catch (error) {
    if (!(error instanceof SourcesFault || error instanceof SopsFault)) throw error;
    const fault = new Failure("BuildFailed", `error decrypting sources: ${messageOf(error)}`, { cause: error });
    if (decrypter.namesOnly) return { tree, values: [] };
    if (error instanceof UnreadableRoot) return { tree, values: [], fault };
    throw fault;
  }
}

async function decryptAll(
  tree: FileTree,
  sources: readonly SourceFile[],
  decrypter: Decrypter,
  signal: AbortSignal,
): Promise<DecryptedSources> {
  const found = sources
    .map((source) => ({ source, content: contentOf(tree, source) }))
    .filter(({ source, content }) => isEncrypted(content, source.format));
  if (found.reduce((sum, { content }) => sum + content.length, 0) > maxSourceBytes) {
    throw new SourcesFault(`the encrypted files of generators and patches have more than ${maxSourceBytes} bytes`);
  }
  const plain = new Map<string, Uint8Array>();
  const values: string[] = [];
  for (const { source, content } of found) {
    const opened = await decryptSource(content, source, decrypter, signal);
    if (opened === undefined) continue;
    plain.set(source.path, opened);
    await setImmediate();
    for (const value of await valuesOfFileSafely({ encrypted: content, plain: opened, format: source.format }, signal))
      values.push(value);
    // A large file takes a while, in which other runs wait.
    await setImmediate();
  }
  if (plain.size === 0) return { tree, values: [] };
  return { tree: { ...tree, files: new Map([...tree.files, ...plain]) }, values };
}

function contentOf({ files, folders }: FileTree, source: SourceFile): Uint8Array {
  const content = files.get(source.path);
  if (content === undefined) {
    if (!folders.has(source.path)) throw missingSource(source);
    throw new SourcesFault("cannot decrypt irregular file as it has file mode type bits set");
  }
  if (content.length > maxEncryptedFileBytes) {
    throw new SourcesFault(
      `cannot decrypt file with size (${content.length} bytes) exceeding limit (${maxEncryptedFileBytes})`,
    );
  }
  return content;
}

/** Undefined if it cannot be decrypted and only names matter. */
async function decryptSource(
  content: Uint8Array,
  { format, path }: SourceFile,
  { keys, ignoreMac, namesOnly }: Decrypter,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    return await decryptFile(content, { input: format, output: format, ignoreMac }, keys, signal);
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    if (namesOnly) return undefined;
    throw new SourcesFault(faultOfFile(messageOf(error), path), { cause: error });
  }
}
