import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf } from "../../core/failure.ts";
import type { Ignore } from "../archive/ignore-rules.ts";
import type { TreeEntry } from "../archive/pack-tar.ts";

const permissionBits = 0o777;
const modeOfStream = 0o644;
const rootOfSingleFile = 0o755;
/** As many as an artifact may have. Links between folders can turn few entries into many. */
export const maxFolderEntries = 100_000;
/** The limit for all files together, which are held in memory. */
export const maxFolderBytes = 1024 ** 3;

/** The content of a folder for a push, with permissions, and without symbolic links and special files. */
export interface Folder {
  readonly rootMode: number;
  readonly entries: readonly TreeEntry[];
  /** Links that were left out, to be shown to the user. */
  readonly skippedLinks: readonly string[];
}

export interface ReadFolderOptions {
  readonly ignore: Ignore;
  /** Packs the targets of symbolic links in their place, even from outside the folder. Only a link to a parent folder is left out. */
  readonly resolveSymlinks: boolean;
  /** {@link maxFolderEntries} and {@link maxFolderBytes} by default. */
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

/**
 * Reads a folder, or a single file as a folder with one entry, without what `ignore` leaves out. Throws a `RangeError` for more
 * files or bytes than allowed, before it reads the file that exceeds the limit.
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

/** A folder with one file. */
export function singleFile(name: string, bytes: Uint8Array, mode = modeOfStream): Folder {
  return { rootMode: rootOfSingleFile, entries: [{ type: "file", path: name, mode, bytes }], skippedLinks: [] };
}

/** Whether a link points to something other than a parent folder. Throws if its target does not exist. */
async function leadsOn(link: string, within: readonly string[]): Promise<boolean> {
  try {
    return !within.includes(await realpath(link));
  } catch (error) {
    throw new Error(`the symbolic link ${link} cannot be followed: ${messageOf(error)}`, { cause: error });
  }
}
