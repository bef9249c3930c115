import { type ArtifactGeneratorSpec, type GeneratedArtifact, generatorLabel } from "../../api/artifact-generator.ts";
import { isTrue } from "../../api/condition.ts";
import { declaredArtifactGenerator } from "../../api/kinds/artifact-generator.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { type Artifact, SourceStatus } from "../../api/source.ts";
import { Digest } from "../../core/digest.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { equal } from "../../core/json.ts";
import { kubernetesTime } from "../../core/kubernetes-time.ts";
import type { LiveObject, Manifest } from "../../core/manifest.ts";
import { formatApiVersion } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { isOutage } from "../../core/ports/outage.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import type { ArtifactRequest } from "../../sources/generator/path-pattern.ts";
import { generatedHere } from "../source/read-source.ts";
import { artifactKey, type GeneratorContext, isListed } from "./generator-context.ts";
import { readyOf } from "./generator-status.ts";
import { artifactIn, wakeConsumers } from "./owned-artifacts.ts";
import { type ObservedSources, originRevisionKey } from "./read-sources.ts";

/** A stored artifact that no ExternalArtifact names yet. */
export interface StoredArtifact {
  readonly request: ArtifactRequest;
  readonly digest: Digest;
  readonly filename: string;
  readonly size: number;
}

/**
 * Publishes an artifact as an ExternalArtifact of the generator's namespace: the object, the record of the artifact under its key and
 * uid, its status, and then the wake-ups. A run that ends between two of these is repeated whole. Throws a {@link Failure}.
 */
export async function publishArtifact(
  stored: StoredArtifact,
  spec: ArtifactGeneratorSpec,
  observed: ObservedSources,
  ctx: GeneratorContext,
): Promise<GeneratedArtifact> {
  const { before, deps, home, manager, namespace, run } = ctx;
  const { request, digest, filename } = stored;
  const { name } = request;
  const key = artifactKey(name, ctx);
  const apply = (manifest: Manifest, what: string, subresource?: "status"): Promise<LiveObject> =>
    home
      .apply(manifest, { manager, force: true, ...(subresource === undefined ? {} : { subresource }) }, run.signal)
      .then(({ object }) => object)
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || isOutage(error)) throw error;
        const message = `${name} reconcile failed: failed to ${what}: ${messageOf(error)}`;
        throw new Failure("ReconciliationFailed", message, { cause: error, retry: "backoff" });
      });
  const live = await apply(manifestOf(request, spec, ctx), "apply ExternalArtifact");
  const { uid } = live.metadata;
  const was = artifactIn(live);
  // Recorded before a status names it, since consumers go by the status.
  await deps.records.record(key, uid, generatedHere, run.fence, run.signal);
  await deps.records.record(key, uid, digest, run.fence, run.signal);
  const artifact = artifactOf(stored, was, observed, ctx);
  const isChanged = !equal(was, artifact) || !isReady(live);
  if (isChanged) {
    const { apiVersion, kind } = live;
    const status = statusOf(artifact, live, ctx);
    await apply(
      { apiVersion, kind, metadata: { name, namespace }, status },
      "patchStatus ExternalArtifact status",
      "status",
    );
  }
  const kept = [generatedHere, digest, ...previousDigests(was, digest)];
  await deps.records.retain(key, uid, kept, run.fence, run.signal);
  const entry = { name, namespace, digest, filename };
  // A run that ended before its wake-ups has left Ready as it was when it began.
  const isNews = isChanged || !isListed(entry, before) || readyOf(before)?.status !== "True";
  if (isNews) await wakeConsumers(name, `new artifact of ${formatWorkKey(key)}`, ctx);
  return entry;
}

function manifestOf(
  { labels, name }: ArtifactRequest,
  { commonMetadata = {} }: ArtifactGeneratorSpec,
  { live, manager, name: own, namespace }: GeneratorContext,
): Manifest {
  const { annotations = {}, labels: common = {} } = commonMetadata;
  const { group, kind, versions } = declaredArtifactGenerator;
  return {
    apiVersion: formatApiVersion(servedKind(declaredExternalArtifact)),
    kind: declaredExternalArtifact.kind,
    metadata: {
      name,
      namespace,
      labels: {
        ...common,
        ...labels,
        "app.kubernetes.io/managed-by": manager,
        [generatorLabel]: live.metadata.uid,
      },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: { sourceRef: { apiVersion: formatApiVersion({ group, version: versions[0] }), kind, name: own, namespace } },
  };
}

function artifactOf(
  { digest, filename, request, size }: StoredArtifact,
  was: Artifact | undefined,
  observed: ObservedSources,
  { deps, namespace }: GeneratorContext,
): Artifact {
  const { name, originRevision = "", revision = "" } = request;
  const path = `${declaredExternalArtifact.kind.toLowerCase()}/${namespace}/${name}/${filename}`;
  const origin = observed.get(originRevision.slice(1))?.artifact;
  const isSame = was?.digest === digest && was.path === path;
  return {
    digest,
    path,
    url: deps.artifactUrl(path),
    revision: observed.get(revision.slice(1))?.artifact.revision ?? `latest@${digest}`,
    lastUpdateTime: isSame ? was.lastUpdateTime : kubernetesTime(deps.clock.now()),
    size,
    ...(origin === undefined
      ? {}
      : { metadata: { [originRevisionKey]: origin.metadata?.[originRevisionKey] ?? origin.revision } }),
  };
}

const readyMessage = "Artifact is ready";

function statusOf(artifact: Artifact, { metadata }: LiveObject, { deps }: GeneratorContext) {
  const ready = {
    type: "Ready",
    status: "True",
    reason: "Succeeded",
    message: readyMessage,
    lastTransitionTime: kubernetesTime(deps.clock.now()),
    observedGeneration: metadata.generation ?? 0,
  };
  return { artifact, conditions: [ready] };
}

function isReady(live: LiveObject): boolean {
  const status = SourceStatus.pick({ conditions: true }).safeParse(live["status"] ?? {});
  const conditions = status.data?.conditions ?? [];
  return (
    isTrue(conditions, "Ready") &&
    conditions.every(({ observedGeneration }) => observedGeneration === live.metadata.generation)
  );
}

/** A consumer may have read the status that named the artifact before this one. */
function previousDigests(was: Artifact | undefined, digest: Digest): readonly Digest[] {
  const read = Digest.safeParse(was?.digest);
  return read.success && read.data !== digest ? [read.data] : [];
}
