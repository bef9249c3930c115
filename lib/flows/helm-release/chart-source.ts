import { findCondition, isTrue } from "../../api/condition.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { sourceGroup } from "../../api/names.ts";
import { type Artifact, SourceStatus } from "../../api/source.ts";
import type { Digest } from "../../core/digest.ts";
import type { FeatureGates } from "../../core/feature-gates.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { type FetchableArtifact, fetchableArtifact } from "../source/read-source.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { Blocked, terminal } from "./blocked.ts";
import { chartRefOf, refuseElsewhere } from "./chart-template.ts";

/** The object with the chart of a HelmRelease, and its artifact. */
export interface ChartSource {
  readonly key: WorkKey;
  readonly artifact: Artifact;
  readonly digest: Digest;
  readonly bytes: FetchableArtifact["bytes"];
  /** The digest in the revision of an OCIRepository or ExternalArtifact; empty for other sources. */
  readonly ociDigest: string;
  /** The part of the revision before the digest. */
  readonly tag: string;
}

/** The key of the object that holds the chart. */
export function chartSourceKey({ name, namespace, release: { spec }, run }: HelmReleaseContext): WorkKey {
  const { cluster } = run.key;
  const made = chartRefOf(spec, { name, namespace });
  if (made !== undefined) return { cluster, group: sourceGroup, kind: "HelmChart", ...made };
  const { kind, name: referent, namespace: elsewhere = namespace } = spec.chartRef ?? { kind: "HelmChart", name: "" };
  return { cluster, group: sourceGroup, kind, namespace: elsewhere, name: referent };
}

/**
 * Finds the artifact with the chart (reference helmrelease 6).
 *
 * @throws Blocked if it may not be used, is not ready or does not exist
 */
export async function findChart(ctx: HelmReleaseContext): Promise<ChartSource> {
  const { deps, home, run } = ctx;
  const key = chartSourceKey(ctx);
  const isExternal = key.kind === declaredExternalArtifact.kind;
  refuseElsewhere(key.kind, key, ctx);
  const closed = closedGate(key, deps);
  if (closed !== undefined) throw terminal("AccessDenied", closed);
  const live = await home.get({ ...key, version: "v1" }, run.signal).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.reason !== "NoMatch") throw error;
    return undefined;
  });
  if (live === undefined) {
    const why = `${key.kind}.${sourceGroup} "${key.name}" not found`;
    throw new Blocked("ArtifactFailed", `could not get Source object: ${why}`, { retry: "backoff" });
  }
  const status = SourceStatus.safeParse(live["status"] ?? {}).data ?? {};
  const notReady =
    isExternal && status.artifact !== undefined ? undefined : whyNotReady(status, live.metadata.generation);
  const { artifact } = status;
  if (notReady !== undefined || artifact === undefined) {
    const message = `${key.kind} '${key.namespace}/${key.name}' is not ready: ${notReady ?? "does not have an artifact"}`;
    throw new Blocked("SourceNotReady", message, { retry: "soon" });
  }
  const found = await fetchableArtifact({ key, uid: live.metadata.uid, artifact }, { deps, run });
  if (found === undefined) return notFound(key, ctx);
  return { key, artifact, ...found, ...revisionOf(key, artifact) };
}

/** Why a HelmRelease may not take its chart from an ExternalArtifact; undefined if it may. */
export function closedGate(
  { kind, name, namespace }: Pick<WorkKey, "kind" | "name" | "namespace">,
  { gates }: { readonly gates: Pick<FeatureGates, "ExternalArtifact"> },
): string | undefined {
  if (kind !== declaredExternalArtifact.kind || gates.ExternalArtifact) return undefined;
  return `cannot access ExternalArtifact ${namespace}/${name}: ExternalArtifact feature gate is disabled`;
}

/** If a source is reconciled here, its run is requested, which pulls the artifact again. */
export async function notFound(key: WorkKey, { deps, run }: HelmReleaseContext): Promise<never> {
  if (key.kind !== declaredExternalArtifact.kind) {
    await deps.requests.request(key, "its artifact is missing", run.signal);
  }
  throw new Blocked("ArtifactFailed", "Source not ready: artifact not found. Retrying in 30s", { retry: "soon" });
}

function whyNotReady(status: SourceStatus, generation: number | undefined): string | undefined {
  const { conditions = [] } = status;
  const ready = findCondition(conditions, "Ready");
  const isObserved = status.observedGeneration === generation;
  if (isTrue(conditions, "Stalled") || !isObserved || status.artifact === undefined) {
    if (ready?.status === "False" && ready.observedGeneration === generation) return ready.message;
    if (isTrue(conditions, "Stalled")) return findCondition(conditions, "Stalled")?.message ?? "stalled";
    if (!isObserved) return "latest generation of object has not been reconciled";
    return ready?.status === "False" ? ready.message : "does not have an artifact";
  }
  return undefined;
}

function revisionOf({ kind }: WorkKey, { revision }: Artifact): Pick<ChartSource, "ociDigest" | "tag"> {
  if (kind === "HelmChart" || !revision.includes(":")) return { ociDigest: "", tag: "" };
  const [tag = "", digest] = revision.split("@");
  // As in Flux, a revision without a tag is a digest as a whole, and a revision whose tag is not a version is recorded as a whole.
  if (digest === undefined) return { ociDigest: revision, tag: "" };
  return { ociDigest: digest, tag };
}
