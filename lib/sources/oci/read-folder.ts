import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf } from "../../core/failure.ts";
import type { Ignore } from "../archive/ignore-rules.ts";
import type { TreeEntry } from "../archive/tree.ts";

const permissionBits = 0o777;
const modeOfStream = 0o644;
const rootOfSingleFile = 0o755;
/** As many as an artifact may have: links between folders can make many of few. */
export const maxFolderEntries = 50_000;
/** Of all files together: they are held in memory. */
export const maxFolderBytes = 1024 ** 3;

/** A folder as it is packed for a push: permissions kept, symbolic links and everything that is no file left out. */
export interface Folder {
  readonly rootMode: number;
  readonly entries: readonly TreeEntry[];
  /** Links that were left out, for people: they may have thought otherwise. */
  readonly skippedLinks: readonly string[];
}

export interface ReadFolderOptions {
  readonly ignore: Ignore;
  /** Packs what symbolic links point to in their place, from wherever it is. Only a link back up its own path is left out. */
  readonly resolveSymlinks: boolean;
  /** {@link maxFolderEntries} and {@link maxFolderBytes} by default. */
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

/**
 * Reads a folder, or a single file as a folder of one. What is ignored is left out. Throws a `RangeError` for more files or
 * bytes than allowed, before the file that is too much is read.
 */
export async function readFolder(
  path: string,
  { ignore, resolveSymlinks, maxEntries = maxFolderEntries, maxBytes = maxFolderBytes }: ReadFolderOptions,
): Promise<Folder> {
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    if (bytes > maxBytes) throw new RangeError(`${path} has more than ${maxBytes} bytes`);
  };
  const root = await stat(path);
  if (!root.isDirectory()) count(root.size);
  if (!root.isDirectory()) return singleFile(basename(path), await readFile(path), root.mode & permissionBits);
  const entries: TreeEntry[] = [];
  const skippedLinks: string[] = [];
  const add = (entry: TreeEntry): void => {
    if (entries.push(entry) > maxEntries) throw new RangeError(`${path} has more than ${maxEntries} files and folders`);
  };
  const walk = async (folder: string, parents: readonly string[]): Promise<void> => {
    const within = resolveSymlinks ? [...parents, await realpath(join(path, folder))] : parents;
    for (const name of await readdir(join(path, folder))) {
      const inside = folder === "" ? name : `${folder}/${name}`;
      const found = await lstat(join(path, inside));
      if (found.isSymbolicLink() && !(resolveSymlinks && (await leadsOn(join(path, inside), within)))) {
        skippedLinks.push(inside);
        continue;
      }
      const target = found.isSymbolicLink() ? await stat(join(path, inside)) : found;
      const mode = target.mode & permissionBits;
      if (target.isDirectory()) {
        if (!ignore(inside, true)) add({ type: "directory", path: inside, mode });
        await walk(inside, within);
      } else if (target.isFile() && !ignore(inside, false)) {
        count(target.size);
        add({ type: "file", path: inside, mode, bytes: await readFile(join(path, inside)) });
      }
    }
  };
  await walk("", []);
  return { rootMode: root.mode & permissionBits, entries, skippedLinks };
}

/** A folder of one file. */
export function singleFile(name: string, bytes: Uint8Array, mode = modeOfStream): Folder {
  return { rootMode: rootOfSingleFile, entries: [{ type: "file", path: name, mode, bytes }], skippedLinks: [] };
}

/** Whether a link leads to something new; throws where it leads nowhere. */
async function leadsOn(link: string, within: readonly string[]): Promise<boolean> {
  try {
    return !within.includes(await realpath(link));
  } catch (error) {
    throw new Error(`the symbolic link ${link} cannot be followed: ${messageOf(error)}`, { cause: error });
  }
}
