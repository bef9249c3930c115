import { posix } from "node:path";
import { Failure, messageOf } from "../core/failure.ts";
import type { FileTree } from "../core/ports/engine.ts";
import type { TreeEntry } from "../sources/archive/tree.ts";
import { defaultArchiveLimits, unpack } from "../sources/archive/unpack.ts";

/** The artifact in memory. It has no links: they are never unpacked. */
export type ArtifactTree = FileTree;

/** Unpacks an artifact. A {@link Failure} `ArtifactFailed` where it is no archive or past the limits. */
export async function artifactTree(archive: Uint8Array, signal: AbortSignal): Promise<ArtifactTree> {
  try {
    const { entries } = await unpack(archive, defaultArchiveLimits, signal);
    return treeOf(entries);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const hint = "failed to extract archive (check whether file size exceeds max download size)";
    throw new Failure("ArtifactFailed", `${hint}: ${messageOf(error)}`, { cause: error });
  }
}

function treeOf(entries: readonly TreeEntry[]): ArtifactTree {
  const files = new Map<string, Uint8Array>();
  const folders = new Set<string>([""]);
  for (const entry of entries) {
    if (entry.type === "file") files.set(entry.path, entry.bytes);
    else folders.add(entry.path);
    for (let parent = folderOf(entry.path); !folders.has(parent); parent = folderOf(parent)) folders.add(parent);
  }
  return { files, folders };
}

/** A path as it is meant inside the root: `..` and a leading slash end there. */
export function confined(path: string): string {
  return posix.join("/", path).replace(/^\/+|\/+$/g, "");
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "" : path.slice(0, slash);
}

export function joinPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
