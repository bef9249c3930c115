import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure, messageOf } from "../core/failure.ts";
import { mapLimit } from "../core/map-limit.ts";
import type { ArtifactTree } from "./artifact-tree.ts";
import { scratchFolder } from "./scratch-folder.ts";

/** A folder of one run, gone with all that is in it when the run ends. */
export interface WorkFolder extends AsyncDisposable {
  readonly path: string;
}

const concurrency = 8;

/** Writes a tree into a fresh folder under `parent`, `replaced` in place of its own files. */
export async function workFolder(
  parent: string,
  tree: ArtifactTree,
  replaced: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<WorkFolder> {
  const path = await freshFolder(parent);
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  try {
    for (const folder of [...tree.folders].toSorted()) await mkdir(join(path, folder), { recursive: true });
    const files = [...new Map<string, string | Uint8Array>([...tree.files, ...replaced])];
    await mapLimit(files, concurrency, ([name, content]) => write(join(path, name), content), signal);
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw unwritable(withinArtifact(messageOf(error), path), error);
  }
  return { path, [Symbol.asyncDispose]: remove };
}

async function freshFolder(parent: string): Promise<string> {
  try {
    await mkdir(parent, { recursive: true });
    return await realpath(await scratchFolder(parent, "build"));
  } catch (error) {
    throw unwritable(messageOf(error), error);
  }
}

/** The artifact may hold what no file system takes, or the disk may be full: neither is a bug. */
function unwritable(why: string, cause: unknown): Failure {
  const message = `failed to write the artifact to the work folder: ${why}`;
  return new Failure("DirectoryCreationFailed", message, { cause });
}

/** A message with every path in a work folder told as one in the artifact, which is what its author knows. */
export function withinArtifact(message: string, folder: string): string {
  return message.replaceAll(`${folder}/`, "").replaceAll(folder, ".");
}

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: 0o600 });
}
