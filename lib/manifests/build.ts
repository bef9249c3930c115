import { type Digest, digestOf } from "../core/digest.ts";
import { Failure } from "../core/failure.ts";
import type { JsonObject } from "../core/json.ts";
import type { Manifest } from "../core/manifest.ts";
import type { Engine } from "../core/ports/engine.ts";
import type { Log } from "../core/ports/log.ts";
import { type ArtifactTree, artifactTree, confined, joinPath } from "./artifact-tree.ts";
import { buildByEngine } from "./build-by-engine.ts";
import type { BuildInput } from "./build-input.ts";
import type { BuildSpec } from "./build-spec.ts";
import { carriesSecret } from "./carries-secret.ts";
import { finishBuild } from "./finish-build.ts";
import { attemptPlainSafely } from "./off-thread.ts";
import { hasKustomizationFile, plainFiles } from "./plain-folder.ts";

export interface BuildDeps {
  readonly engine: Engine;
  readonly log: Log;
}

export interface Built {
  /** In kustomize's order, with owner labels and common metadata, ready to apply. */
  readonly manifests: readonly Manifest[];
  /** Over the YAML that kustomize prints, as Flux's history has it: without owner labels and common metadata. */
  readonly digest: Digest;
  /** Whether data of a Secret may be in that YAML. */
  readonly carriesSecret: boolean;
  /** How long that YAML is: about what the manifests take in memory. */
  readonly bytes: number;
}

/**
 * From an artifact, a tar.gz whose digest was verified, to the manifests that a Kustomization's spec asks for. A folder of plain YAML is built in process, from
 * memory, where that is certain to be what kustomize would print; everything else by the engine.
 *
 * Throws a {@link Failure}: `ArtifactFailed` where the artifact or the path in it is no good, `ReconciliationFailed` for an
 * encrypted Secret, `BuildFailed` for everything else that is wrong with what the artifact holds.
 */
export async function buildManifests(
  archive: Uint8Array,
  { spec, owner }: Pick<BuildInput, "spec" | "owner">,
  deps: BuildDeps,
  signal: AbortSignal,
): Promise<Built> {
  const tree = await artifactTree(archive, signal);
  const folder = builtFolder(tree, spec);
  const { objects, text } = await build(tree, folder, spec, deps, signal);
  const manifests = finishBuild(objects, owner, spec.commonMetadata);
  return {
    manifests,
    digest: digestOf(text),
    carriesSecret: carriesSecret(manifests, tree, spec),
    bytes: text.length,
  };
}

/** Messages name files and folders by their path in the artifact, which is all that its author knows. */
function builtFolder(tree: ArtifactTree, { path = "" }: BuildSpec): string {
  const folder = confined(path);
  if (tree.folders.has(folder)) return folder;
  const why = tree.files.has(folder) ? `${folder}: not a directory` : `stat ${folder}: no such file or directory`;
  throw new Failure("ArtifactFailed", `kustomization path not found: ${why}`);
}

interface Output {
  readonly objects: readonly JsonObject[];
  readonly text: string;
}

async function build(
  tree: ArtifactTree,
  folder: string,
  spec: BuildSpec,
  deps: BuildDeps,
  signal: AbortSignal,
): Promise<Output> {
  const files = isPlain(tree, folder, spec) ? plainFiles(tree, folder) : undefined;
  const output = files === undefined ? undefined : await buildInProcess(tree, folder, files, spec, deps, signal);
  return output ?? buildByEngine(tree, folder, spec, deps.engine, signal);
}

function isPlain(tree: ArtifactTree, folder: string, spec: BuildSpec): boolean {
  return asksForLittle(spec) && !hasKustomizationFile(tree, folder);
}

function asksForLittle({ patches = [], components = [], buildMetadata = [] }: BuildSpec): boolean {
  return patches.length === 0 && components.length === 0 && buildMetadata.length === 0;
}

/** Undefined where only the engine should say what the files mean. */
async function buildInProcess(
  tree: ArtifactTree,
  folder: string,
  paths: readonly string[],
  spec: BuildSpec,
  { log }: BuildDeps,
  signal: AbortSignal,
): Promise<Output | undefined> {
  const files = paths.map((path) => ({
    path,
    content: tree.files.get(joinPath(folder, path)) ?? new Uint8Array(),
  }));
  const { targetNamespace, namePrefix, nameSuffix, images } = spec;
  const wanted = {
    ...(targetNamespace !== undefined && { targetNamespace }),
    ...(namePrefix !== undefined && { namePrefix }),
    ...(nameSuffix !== undefined && { nameSuffix }),
    ...(images !== undefined && { images }),
  };
  const outcome = await attemptPlainSafely(files, wanted, signal);
  switch (outcome.kind) {
    case "built":
      return outcome.build;
    case "undecided":
      log.debug("build left to the engine", { file: outcome.path, why: outcome.why });
      return undefined;
    case "unacceptable": {
      const file = joinPath(folder, outcome.path);
      const message = `failed to decode Kubernetes YAML from ${file}: yaml: line ${outcome.line}: ${outcome.why}`;
      throw new Failure("BuildFailed", message);
    }
  }
}
