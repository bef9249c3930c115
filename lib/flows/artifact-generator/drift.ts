import type { ArtifactGeneratorSpec } from "../../api/artifact-generator.ts";
import { Digest } from "../../core/digest.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { storeOutage } from "../../core/ports/outage.ts";
import { artifactKey, type GeneratorContext, isListed } from "./generator-context.ts";
import { readyOf } from "./generator-status.ts";
import { artifactIn } from "./owned-artifacts.ts";

/** Why artifacts have to be made, in Flux's words and order (reference sources 10.2). */
export type Drift =
  | "NotReady"
  | "GenerationChanged"
  | "SourcesChanged"
  | "ArtifactsChanged"
  | "ArtifactMissing"
  | "ExternalArtifactsChanged";

/** Undefined if everything is as the last run left it. A store that does not answer is an `Outage`. */
export async function detectDrift(
  { artifacts, pathPattern = "" }: ArtifactGeneratorSpec,
  sourcesDigest: string,
  owned: readonly LiveObject[],
  ctx: GeneratorContext,
): Promise<Drift | undefined> {
  const { before, live } = ctx;
  const { inventory = [] } = before;
  const ready = readyOf(before);
  // Unknown: an earlier run has not come to its end.
  if (ready?.status !== "True") return "NotReady";
  if (ready.observedGeneration !== live.metadata.generation) return "GenerationChanged";
  if (before.observedSourcesDigest !== sourcesDigest) return "SourcesChanged";
  if (pathPattern === "" && inventory.length !== artifacts.length) return "ArtifactsChanged";
  if (owned.length !== inventory.length) return "ExternalArtifactsChanged";
  for (const { metadata, ...rest } of owned) {
    const { name, namespace = "", uid } = metadata;
    const digest = Digest.safeParse(artifactIn({ ...rest, metadata })?.digest);
    if (!digest.success || !isListed({ name, namespace, digest: digest.data }, before))
      return "ExternalArtifactsChanged";
    if (!(await isStored(name, uid, digest.data, ctx))) return "ArtifactMissing";
  }
  return undefined;
}

async function isStored(name: string, uid: string, digest: Digest, ctx: GeneratorContext): Promise<boolean> {
  const { deps, run } = ctx;
  if (!(await deps.records.recorded(artifactKey(name, ctx), uid, digest, run.signal))) return false;
  const unread = storeOutage("StorageOperationFailed", "unable to read artifact from storage", run.signal);
  return deps.artifacts.has(digest, run.signal).catch(unread);
}
