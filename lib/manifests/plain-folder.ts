import { inWalkOrder } from "../sources/archive/tree.ts";
import type { ArtifactTree } from "./artifact-tree.ts";
import { kustomizationFileIn } from "./kustomization-file.ts";

/** What Flux puts into the kustomization that it writes for a folder without one, in the order of its walk. */
export interface PlainFolder {
  /** YAML files anywhere below, relative to the folder. */
  readonly files: readonly string[];
  /** Files, and folders with a kustomization of their own, as `./path`. */
  readonly resources: readonly string[];
}

export function plainFolder(tree: ArtifactTree, folder: string): PlainFolder {
  const prefix = folder === "" ? "" : `${folder}/`;
  const below = [...tree.folders, ...tree.files.keys()].filter((path) => path.startsWith(prefix) && path !== folder);
  const files: string[] = [];
  const resources: string[] = [];
  let closed = "";
  for (const { path } of inWalkOrder(below.filter((path) => path !== "").map((path) => ({ path })))) {
    if (closed !== "" && path.startsWith(closed)) continue;
    const relative = path.slice(prefix.length);
    if (tree.folders.has(path)) {
      if (kustomizationFileIn(tree, path) === undefined) continue;
      closed = `${path}/`;
      resources.push(`./${relative}`);
    } else if (/\.ya?ml$/.test(path)) {
      files.push(relative);
      resources.push(`./${relative}`);
    }
  }
  return { files, resources };
}
