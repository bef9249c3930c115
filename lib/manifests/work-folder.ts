import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mapLimit } from "../core/map-limit.ts";
import type { ArtifactTree } from "./artifact-tree.ts";

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
  await mkdir(parent, { recursive: true });
  const path = await realpath(await mkdtemp(join(parent, "build-")));
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  try {
    for (const folder of [...tree.folders].toSorted()) await mkdir(join(path, folder), { recursive: true });
    const files = [...new Map<string, string | Uint8Array>([...tree.files, ...replaced])];
    await mapLimit(files, concurrency, ([name, content]) => write(join(path, name), content), signal);
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, [Symbol.asyncDispose]: remove };
}

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode: 0o600 });
}
