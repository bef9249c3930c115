import type { LinkedEntry } from "../../archive/follow-links.ts";

/**
 * The files of a revision, as git would write them to a disk, by path and without contents: those are read when they are packed.
 * Folders have entries of their own; a folder stands before what it holds.
 */
export type WorkTree = Map<string, LinkedEntry>;

/**
 * Adds the folders on the way to this path. Answers the path of an entry on the way that is not a folder. Upwards, to the first that
 * is there: a deep folder of many files would take minutes otherwise.
 */
export function addFolders(tree: WorkTree, path: string): string | undefined {
  const absent: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end);
    const found = tree.get(folder);
    if (found?.type === "directory") break;
    if (found !== undefined) return folder;
    absent.push(folder);
  }
  for (const folder of absent.toReversed()) tree.set(folder, { type: "directory", path: folder });
  return undefined;
}

/** A path as it lies within the root: without empty parts and `.`, and with `..` going no higher than the root. */
export function confined(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
