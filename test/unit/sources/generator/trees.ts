import { FileTree } from "../../../../lib/sources/generator/file-tree.ts";
import { type Budget, budgetOf, defaultGeneratorLimits } from "../../../../lib/sources/generator/generator-limits.ts";

/** Of a run that is never stopped. */
export function budget(change: Partial<typeof defaultGeneratorLimits> = {}): Budget {
  return budgetOf({ ...defaultGeneratorLimits, ...change }, new AbortController().signal);
}

/** A tree of files; a path that ends with a slash is an empty folder. */
export function tree(files: Readonly<Record<string, string | Uint8Array>>): FileTree {
  const made = new FileTree(defaultGeneratorLimits.archive);
  for (const [path, content] of Object.entries(files)) {
    if (path.endsWith("/")) made.addFolder(path.slice(0, -1));
    else made.addFile(path, { type: "file", mode: 0o644, read: async () => Buffer.from(content) });
  }
  return made;
}

/** The files of a tree with their text. */
export async function textsOf(made: FileTree): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const path of made.below(".")) {
    const node = made.get(path);
    if (node?.type === "file") texts[path] = Buffer.from(await node.read()).toString();
  }
  return texts;
}
