import type { Manifest } from "../core/manifest.ts";
import type { ArtifactTree } from "./artifact-tree.ts";
import type { BuildSpec } from "./build-spec.ts";

/** What makes a Secret, or is one. */
const ofSecrets = ["Secret", "ecretGenerator"];
/** By these kustomize reads an object and does not print it, or prints it as another kind. */
const thatHide = ["config.kubernetes.io/local-config", "$patch", "allowKindChange", "/kind"];

/**
 * Whether a build has a Secret, or may have data of one that is not among the manifests itself: a replacement or a variable
 * may take it from a Secret that the same files hide. Pure.
 */
export function carriesSecret(
  manifests: readonly Manifest[],
  { files }: Pick<ArtifactTree, "files">,
  { patches = [] }: Pick<BuildSpec, "patches">,
): boolean {
  if (manifests.some(({ kind }) => kind === "Secret")) return true;
  const sources = [Buffer.from(JSON.stringify(patches)), ...[...files.values()].map(viewOf)];
  const mention = (words: readonly string[]) => sources.some((source) => words.some((word) => source.includes(word)));
  return mention(thatHide) && mention(ofSecrets);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
