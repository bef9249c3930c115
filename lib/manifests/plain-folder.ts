import type { FileTree } from "../core/ports/engine.ts";
import { inWalkOrder } from "../sources/archive/tree.ts";
import { joinPath } from "./artifact-tree.ts";

/** The names that kustomize knows, in the order in which Flux looks for them. */
const kustomizationFileNames = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/** Whether a folder says by a kustomization file of its own what it builds to. */
export function hasKustomizationFile(tree: FileTree, folder: string): boolean {
  return kustomizationFileNames.some((name) => tree.files.has(joinPath(folder, name)));
}

/**
 * The YAML files of a folder without a kustomization file, relative to it, in the order in which Flux walks it. Undefined where
 * a folder below has a kustomization file: kustomize has to build that one. (Reference 3.8, case B.)
 */
export function plainFiles(tree: FileTree, folder: string): readonly string[] | undefined {
  const prefix = folder === "" ? "" : `${folder}/`;
  const isBelow = (path: string): boolean => path.startsWith(prefix) && path !== folder && path !== "";
  if ([...tree.folders].some((path) => isBelow(path) && hasKustomizationFile(tree, path))) return undefined;
  const files = [...tree.files.keys()].filter((path) => isBelow(path) && /\.ya?ml$/.test(path));
  return inWalkOrder(files.map((path) => ({ path }))).map(({ path }) => path.slice(prefix.length));
}
