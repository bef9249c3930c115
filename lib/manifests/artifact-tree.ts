import { posix } from "node:path";
import { Failure, messageOf } from "../core/failure.ts";
import type { FileTree } from "../core/ports/engine.ts";
import type { UnreadEntry } from "../sources/archive/archive-tree.ts";
import { presentFolders } from "../sources/archive/present-paths.ts";
import { defaultArchiveLimits, unpack, withLinksFollowed } from "../sources/archive/unpack.ts";
import { inWalkOrder } from "../sources/archive/walk-order.ts";

/** The artifact in memory. It has no links: they are followed by copy, or left out. */
export type ArtifactTree = FileTree;

/**
 * Unpacks an artifact. Throws a {@link Failure} `ArtifactFailed` if it is not an archive, exceeds the limits, or has a link that
 * leads out of it or to nothing.
 */
export async function artifactTree(
  archive: Uint8Array,
  { skipLinks = false }: { readonly skipLinks?: boolean },
  signal: AbortSignal,
): Promise<ArtifactTree> {
  const limits = defaultArchiveLimits;
  try {
    const unpacked = await unpack(archive, limits, signal);
    if (skipLinks || unpacked.links.length === 0) return treeOf(unpacked.entries);
    const followed = await withLinksFollowed(unpacked, { limits, mend: "put a file in its place" }, signal);
    return treeOf(await Promise.all(followed.map(readEntry)));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const hint = "failed to extract archive (check whether file size exceeds max download size)";
    throw new Failure("ArtifactFailed", `${hint}: ${messageOf(error)}`, { cause: error });
  }
}

async function readEntry(entry: UnreadEntry): Promise<ReadEntry> {
  return entry.type === "directory" ? entry : { type: "file", path: entry.path, bytes: await entry.read() };
}

type ReadEntry =
  | { readonly type: "directory"; readonly path: string }
  | { readonly type: "file"; readonly path: string; readonly bytes: Uint8Array };

function treeOf(entries: readonly ReadEntry[]): ArtifactTree {
  const files = new Map<string, Uint8Array>();
  const folders = new Set<string>([""]);
  for (const entry of entries) {
    if (entry.type === "file") files.set(entry.path, entry.bytes);
    else folders.add(entry.path);
    for (let parent = folderOf(entry.path); !folders.has(parent); parent = folderOf(parent)) folders.add(parent);
  }
  return { files, folders };
}

/** A path inside the root. `..` and a leading slash cannot leave it. */
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

/** The names of a kustomization file, in the order in which Flux looks for them. */
export const kustomizationFileNames = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** Whether a folder has a kustomization file of its own. */
export function hasKustomizationFile(tree: FileTree, folder: string): boolean {
  return kustomizationFileNames.some((name) => tree.files.has(joinPath(folder, name)));
}

/**
 * The YAML files of a folder without a kustomization file, relative to it, in the order of Flux's walk. Undefined if a folder
 * below has a kustomization file: then kustomize has to build it. (Reference 3.8, case B.)
 */
export function plainFiles(tree: FileTree, folder: string): readonly string[] | undefined {
  const prefix = folder === "" ? "" : `${folder}/`;
  const isBelow = (path: string): boolean => path.startsWith(prefix) && path !== folder && path !== "";
  if ([...tree.folders].some((path) => isBelow(path) && hasKustomizationFile(tree, path))) return undefined;
  const files = [...tree.files.keys()].filter((path) => isBelow(path) && /\.ya?ml$/.test(path));
  return inWalkOrder(files.map((path) => ({ path }))).map(({ path }) => path.slice(prefix.length));
}

/** Why this path of an artifact is not a folder, in Flux's words, and what exists instead. Pure. */
export function whyNoFolder(tree: ArtifactTree, folder: string): string {
  if (tree.files.has(folder)) {
    const parent = folder.slice(0, Math.max(0, folder.lastIndexOf("/")));
    return `${folder}: not a directory; it is a file, set spec.path to its folder ./${parent}`;
  }
  const why = isBelowFile(tree, folder) ? "not a directory" : "no such file or directory";
  return `stat ${folder}: ${why}${presentFolders("artifact", folder, tree.folders)}`;
}

function isBelowFile({ files }: ArtifactTree, path: string): boolean {
  const names = path.split("/");
  return names.some((_, count) => files.has(names.slice(0, count).join("/")));
}
