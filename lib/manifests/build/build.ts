import { type Digest, digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import type { Manifest } from "../../core/manifest.ts";
import type { Engine } from "../../core/ports/engine.ts";
import type { Log } from "../../core/ports/log.ts";
import {
  type ArtifactTree,
  artifactTree,
  confined,
  hasKustomizationFile,
  joinPath,
  plainFiles,
  whyNoFolder,
} from "../artifact-tree.ts";
import type { BuildSpec, PostBuild } from "../build-spec.ts";
import { finishBuild } from "../finish-build.ts";
import type { BuildOutput } from "../rendered.ts";
import { expressionsIn } from "../sealed/plain-values.ts";
import { carriesSecret, maskSecrets } from "../secrets.ts";
import { attemptPlainSafely } from "../thread/off-thread.ts";
import { buildByEngine } from "./build-by-engine.ts";
import type { BuildInput } from "./build-input.ts";
import type { TemplateSources } from "./substitute-objects.ts";

export interface BuildDeps {
  readonly engine: Engine;
  readonly log: Log;
  /** Whether links in an artifact are left out, as in Flux, in place of being followed. */
  readonly skipLinks?: boolean;
}

export interface Built {
  /** Ready to apply: in kustomize's order, with owner labels and common metadata. */
  readonly manifests: readonly Manifest[];
  /** The digest of the YAML that kustomize prints, without owner labels and common metadata, as in Flux's history. */
  readonly digest: Digest;
  /** Whether that YAML may hold data of a Secret. */
  readonly carriesSecret: boolean;
  /** Values of Secrets that were substituted in the manifests, and values that were decrypted: no text shows them. */
  readonly secrets: readonly string[];
  /** Length of that YAML, which is about as much memory as the manifests take. */
  readonly bytes: number;
}

/** The input of a build, apart from the artifact and its decryption. */
export type ManifestInput = Pick<BuildInput, "spec" | "owner" | "postBuild">;

/**
 * Builds the manifests that a Kustomization's spec asks for from an artifact, a tar.gz whose digest was verified. A folder of
 * plain YAML is built in process if the result is certain to be what kustomize would print; everything else is built by the
 * engine.
 *
 * Throws a {@link Failure}: `ArtifactFailed` if the artifact cannot be read or lacks the path, `BuildFailed` for every fault of the
 * manifests.
 */
export async function buildManifests(
  archive: Uint8Array,
  input: ManifestInput,
  deps: BuildDeps,
  signal: AbortSignal,
): Promise<Built> {
  const tree = await artifactTree(archive, deps, signal);
  const output = await build(tree, builtFolder(tree, input.spec), input.spec, deps, signal);
  return finish(output, tree, undefined, input, signal);
}

/**
 * The last steps of a build: substitution, and what Flux does before it applies.
 *
 * @param decrypted values that no text shows, beside those that are substituted; undefined without decryption
 */
export async function finish(
  output: BuildOutput,
  tree: Pick<ArtifactTree, "files">,
  decrypted: readonly string[] | undefined,
  { owner, postBuild, spec }: ManifestInput,
  signal: AbortSignal,
): Promise<Built> {
  const secrets = [...(decrypted ?? []), ...(postBuild?.secrets ?? [])];
  const { manifests, text } = await masked([...secrets, ...expressionsIn(decrypted ?? [])], async () => {
    const { objects, text } = await afterBuild(
      output,
      postBuild,
      { files: tree.files, folder: confined(spec.path ?? "") },
      signal,
    );
    return { manifests: finishBuild(objects, owner, spec.commonMetadata), text };
  });
  return {
    manifests,
    digest: digestOf(text),
    carriesSecret: decrypted !== undefined || secrets.length > 0 || carriesSecret(manifests, tree, spec),
    secrets,
    bytes: text.length,
  };
}

async function afterBuild(
  output: BuildOutput,
  postBuild: PostBuild | undefined,
  sources: TemplateSources,
  signal: AbortSignal,
): Promise<BuildOutput> {
  if (postBuild === undefined) return output;
  const { substituteObjects } = await import("./substitute-objects.ts");
  return substituteObjects(output, postBuild, sources, signal);
}

/** A failure of what is done with these values does not quote them. */
export async function masked<Result>(secrets: readonly string[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { reason, retry } = error;
    throw new Failure(reason, maskSecrets(error.message, { manifests: [], secrets }), { retry });
  }
}

/** Messages name files and folders by their path in the artifact, since its author knows no other. */
export function builtFolder(tree: ArtifactTree, { path = "" }: BuildSpec): string {
  const folder = confined(path);
  if (tree.folders.has(folder)) return folder;
  throw new Failure("ArtifactFailed", `kustomization path not found: ${whyNoFolder(tree, folder)}`);
}

/** What kustomize prints for a folder of the artifact. Throws as {@link buildManifests} does. */
export async function build(
  tree: ArtifactTree,
  folder: string,
  spec: BuildSpec,
  deps: BuildDeps,
  signal: AbortSignal,
): Promise<BuildOutput> {
  const files = isPlain(tree, folder, spec) ? plainFiles(tree, folder) : undefined;
  const output = files === undefined ? undefined : await buildInProcess(tree, folder, files, spec, deps, signal);
  return output ?? buildByEngine(tree, folder, spec, deps.engine, signal);
}

function isPlain(tree: ArtifactTree, folder: string, spec: BuildSpec): boolean {
  return asksForLittle(spec) && !hasKustomizationFile(tree, folder);
}

function asksForLittle({ components = [], buildMetadata = [] }: BuildSpec): boolean {
  return components.length === 0 && buildMetadata.length === 0;
}

/** Undefined if the build is not certain and must be left to the engine. */
async function buildInProcess(
  tree: ArtifactTree,
  folder: string,
  paths: readonly string[],
  spec: BuildSpec,
  { log }: BuildDeps,
  signal: AbortSignal,
): Promise<BuildOutput | undefined> {
  const files = paths.map((path) => ({
    path,
    content: tree.files.get(joinPath(folder, path)) ?? new Uint8Array(),
  }));
  const { targetNamespace, namePrefix, nameSuffix, images, patches } = spec;
  const wanted = {
    ...(targetNamespace !== undefined && { targetNamespace }),
    ...(namePrefix !== undefined && { namePrefix }),
    ...(nameSuffix !== undefined && { nameSuffix }),
    ...(images !== undefined && { images }),
    ...(patches !== undefined && { patches }),
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
