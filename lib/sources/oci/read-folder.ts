import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Ignore } from "../archive/ignore-rules.ts";
import type { TreeEntry } from "../archive/tree.ts";

const permissionBits = 0o777;
const rootOfSingleFile = 0o755;

/** A folder as it is packed for a push: permissions kept, symbolic links and everything that is no file left out. */
export interface Folder {
  readonly rootMode: number;
  readonly entries: readonly TreeEntry[];
  /** Links that were left out, for people: they may have thought otherwise. */
  readonly skippedLinks: readonly string[];
}

/** Reads a folder, or a single file as a folder of one. What is ignored is left out. */
export async function readFolder(path: string, ignore: Ignore): Promise<Folder> {
  const root = await stat(path);
  if (!root.isDirectory()) {
    const entry = { type: "file", path: basename(path), mode: root.mode & permissionBits } as const;
    return { rootMode: rootOfSingleFile, entries: [{ ...entry, bytes: await readFile(path) }], skippedLinks: [] };
  }
  const entries: TreeEntry[] = [];
  const skippedLinks: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const name of await readdir(join(path, folder))) {
      const inside = folder === "" ? name : `${folder}/${name}`;
      const found = await lstat(join(path, inside));
      const mode = found.mode & permissionBits;
      if (found.isSymbolicLink()) skippedLinks.push(inside);
      else if (found.isDirectory()) {
        if (!ignore(inside, true)) entries.push({ type: "directory", path: inside, mode });
        await walk(inside);
      } else if (found.isFile() && !ignore(inside, false)) {
        entries.push({ type: "file", path: inside, mode, bytes: await readFile(join(path, inside)) });
      }
    }
  };
  await walk("");
  return { rootMode: root.mode & permissionBits, entries, skippedLinks };
}
