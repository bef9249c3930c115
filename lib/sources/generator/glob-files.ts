import { childOf, type FileTree } from "./file-tree.ts";
import type { Budget } from "./generator-limits.ts";
import { compileGlob, type Glob } from "./glob.ts";

/**
 * What Go's `fs.Glob` finds: each part of the glob is matched with the names of one folder, so `**` means the same as `*`. Folders and
 * files, in the order of names. Throws an `Error` for an invalid glob.
 */
export async function globFiles(tree: FileTree, pattern: string, budget: Budget): Promise<readonly string[]> {
  compiled(pattern, "file");
  let found: readonly string[] = ["."];
  for (const part of pattern.split("/")) {
    // As in Go, neither an empty part nor `.` and `..` is the name of anything.
    if (part === "" || part === "." || part === "..") return [];
    const glob = compiled(part, "file");
    const next: string[] = [];
    for (const folder of found) {
      for (const name of tree.namesIn(folder)) {
        const { isMatch, steps } = glob.match(name);
        await budget.spend(steps);
        if (isMatch) next.push(childOf(folder, name));
      }
    }
    found = next;
  }
  return found;
}

/**
 * What doublestar's `Glob` finds, where `**` is any number of folders. In each folder what lies in it comes before what its folders
 * hold. Throws an `Error` for an invalid glob.
 */
export async function globRecursively(tree: FileTree, pattern: string, budget: Budget): Promise<readonly string[]> {
  const glob = compiled(pattern, "recursive");
  const found: string[] = [];
  const waiting = ["."];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const folders: string[] = [];
    for (const name of tree.namesIn(folder)) {
      const path = childOf(folder, name);
      const { isMatch, steps } = glob.match(path);
      await budget.spend(steps);
      if (isMatch) found.push(path);
      if (tree.get(path)?.type === "directory") folders.push(path);
    }
    waiting.push(...folders.toReversed());
  }
  return found;
}

function compiled(pattern: string, dialect: "file" | "recursive"): Glob {
  const glob = compileGlob(pattern, dialect);
  if (glob === undefined) throw new Error(`invalid glob pattern '${pattern}': syntax error in pattern`);
  return glob;
}
