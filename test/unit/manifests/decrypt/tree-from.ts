import type { FileTree } from "../../../../lib/core/ports/engine.ts";

/** A tree of these files: path -> content. */
export function treeFrom(files: Readonly<Record<string, string | Uint8Array>>): FileTree {
  const folders = new Set([""]);
  for (const path of Object.keys(files)) {
    const names = path.split("/").slice(0, -1);
    for (const [index] of names.entries()) folders.add(names.slice(0, index + 1).join("/"));
  }
  return { files: new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)])), folders };
}
