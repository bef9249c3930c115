import type { FileTree, TreeFile } from "../../../../lib/image/setters/follow-path.ts";

/** The text of a file, or a link. */
export type MemoryFile = string | { readonly target: string };

export function link(target: string): MemoryFile {
  return { target };
}

/** The files of a commit, without git. */
export function treeOf(files: Readonly<Record<string, MemoryFile>>): FileTree {
  const paths = Object.keys(files).toSorted();
  return {
    async *files(folder, signal) {
      for (const path of paths) {
        signal.throwIfAborted();
        const file = files[path];
        const isBelow = folder === "" || path === folder || path.startsWith(`${folder}/`);
        if (file !== undefined && isBelow) yield entryOf(path, file);
      }
    },
  };
}

function entryOf(path: string, file: MemoryFile): TreeFile {
  const isFile = typeof file === "string";
  return {
    path,
    type: isFile ? "file" : "symlink",
    read: async () => Buffer.from(isFile ? file : file.target),
  };
}
