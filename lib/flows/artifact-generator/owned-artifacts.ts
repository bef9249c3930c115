import { type ArtifactGeneratorStatus, generatorLabel } from "../../api/artifact-generator.ts";
import { declaredArtifactGenerator } from "../../api/kinds/artifact-generator.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { type Artifact, SourceStatus } from "../../api/source.ts";
import { Failure } from "../../core/failure.ts";
import { isJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { sourceTopic } from "../../core/topics.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { artifactKey, type GeneratorContext } from "./generator-context.ts";

/** The ExternalArtifacts that this generator has published, including those of a run that did not reach its status. */
export async function ownedArtifacts(ctx: GeneratorContext): Promise<readonly LiveObject[]> {
  const { home, live, namespace, run } = ctx;
  const labelSelector = `${generatorLabel}=${live.metadata.uid}`;
  return home.list({ ...servedKind(declaredExternalArtifact), namespace, labelSelector }, run.signal);
}

/**
 * Throws a {@link Failure} if another generator that is still there makes an ExternalArtifact of one of these names: the two would
 * overwrite each other without end, each woken by the other.
 */
export async function refuseNamesOfOthers(
  names: readonly string[],
  owned: readonly LiveObject[],
  { home, namespace, run }: GeneratorContext,
): Promise<void> {
  const own = new Set(owned.map(({ metadata }) => metadata.name));
  for (const name of names) {
    if (own.has(name)) continue;
    const ref = { ...servedKind(declaredExternalArtifact), namespace, name };
    const live = await home.get(ref, run.signal);
    const uid = live?.metadata.labels?.[generatorLabel];
    if (live === undefined || uid === undefined) continue;
    const maker = { ...servedKind(declaredArtifactGenerator), namespace, name: makerOf(live) };
    if (maker.name === "" || (await home.get(maker, run.signal))?.metadata.uid !== uid) continue;
    const why = `${subject(maker)} makes it: rename the artifact in one of the two`;
    throw new Failure("ReconciliationFailed", `${name} reconcile failed: ${why}`, { retry: "backoff" });
  }
}

/** The generator named in an ExternalArtifact; empty if it names none. */
function makerOf(live: LiveObject): string {
  const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
  const ref = isJsonObject(spec["sourceRef"]) ? spec["sourceRef"] : {};
  return ref["kind"] === declaredArtifactGenerator.kind && typeof ref["name"] === "string" ? ref["name"] : "";
}

/** The artifact in an ExternalArtifact; undefined if it is unreadable. */
export function artifactIn(live: LiveObject): Artifact | undefined {
  return SourceStatus.pick({ artifact: true }).safeParse(live["status"] ?? {}).data?.artifact;
}

/**
 * Deletes the ExternalArtifacts of this generator that are not in `wanted`, with their records, and wakes their consumers. An object
 * that another generator or a person has put in the place of one is left alone.
 */
export async function removeOthers(
  wanted: ReadonlySet<string>,
  owned: readonly LiveObject[],
  { inventory = [] }: ArtifactGeneratorStatus,
  ctx: GeneratorContext,
): Promise<void> {
  const { home, namespace, run, deps } = ctx;
  const listed = inventory.filter((entry) => entry.namespace === namespace).map(({ name }) => name);
  const names = new Set([...owned.map(({ metadata }) => metadata.name), ...listed]);
  for (const name of names) {
    if (wanted.has(name)) continue;
    const key = artifactKey(name, ctx);
    const ref = { ...key, ...servedKind(declaredExternalArtifact) };
    const live = owned.find(({ metadata }) => metadata.name === name) ?? (await home.get(ref, run.signal));
    if (live !== undefined) {
      if (!isMadeBy(live, ctx)) continue;
      const { uid } = live.metadata;
      await home.delete(ref, { uid, propagation: "Background" }, run.signal).catch((error: unknown) => {
        // Another object has its name by now.
        if (!(error instanceof ApiError && error.reason === "Conflict")) throw error;
      });
    }
    await deps.records.retain(key, "", [], run.fence, run.signal);
    await wakeConsumers(name, `${formatWorkKey(key)} is deleted`, ctx);
  }
}

/** Found by its label or, if a user removed that, by the source that it names. */
function isMadeBy(live: LiveObject, { live: own, name }: GeneratorContext): boolean {
  const label = live.metadata.labels?.[generatorLabel];
  if (label !== undefined) return label === own.metadata.uid;
  return makerOf(live) === name;
}

/** Wakes the objects whose source is an ExternalArtifact of this generator. */
export async function wakeConsumers(name: string, reason: string, ctx: GeneratorContext): Promise<void> {
  const { deps, run } = ctx;
  const own = formatWorkKey(run.key);
  for (const consumer of await deps.subscriptions.subscribers(sourceTopic(artifactKey(name, ctx)), run.signal)) {
    // The generator itself listens for changes by other writers.
    if (formatWorkKey(consumer) !== own) await deps.requests.request(consumer, reason, run.signal);
  }
}
