import type { ArtifactGeneratorStatus, GeneratedArtifact } from "../../api/artifact-generator.ts";
import { declaredArtifactGenerator } from "../../api/kinds/artifact-generator.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Http } from "../../core/ports/http.ts";
import type { Run } from "../../core/ports/run.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type EventToRecord, reportEvent } from "../record-event.ts";
import type { SourceKinds } from "../source/read-source.ts";
import { statusPatch } from "../status-patch.ts";

export const manager = declaredArtifactGenerator.statusManager;

/** The outside services of the reconcile of an ArtifactGenerator. */
export interface ArtifactGeneratorDeps extends FlowDeps {
  /** The address under which the path of an artifact is served, or would be: consumers of ours go by the digest. */
  readonly artifactUrl: (path: string) => string;
  /** For sources that other controllers write and serve. */
  readonly http: Pick<Http, "send">;
  /** The kinds that may be sources. */
  readonly sources: SourceKinds;
  /** Flux's flag of this name: sources of other namespaces than the object's are refused. */
  readonly noCrossNamespaceRefs: boolean;
  /** Whether links in sources are left out, as in Flux, in place of being followed. */
  readonly skipLinks?: boolean;
}

/** The ArtifactGenerator of one run, and its status from the run. */
export interface GeneratorContext {
  readonly live: LiveObject;
  readonly name: string;
  readonly namespace: string;
  readonly run: Run;
  readonly deps: ArtifactGeneratorDeps;
  /** Takes writes only while the run holds its lease. */
  readonly home: HomeCluster;
  /** The status as the run found it. */
  readonly before: ArtifactGeneratorStatus;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  now(): { readonly generation: number; readonly at: number };
  /** Writes what differs from the status in the cluster. Answers whether anything does. */
  publish(status: ArtifactGeneratorStatus): Promise<boolean>;
  /** Publishes the outcome of the run, and that the request for it was handled. */
  conclude(status: ArtifactGeneratorStatus): Promise<boolean>;
  /** The status as it was last published. */
  status(): ArtifactGeneratorStatus;
  /** If the API server does not accept an event, it is logged and left out. */
  record(event: EventToRecord): Promise<void>;
}

export function generatorContext(
  live: LiveObject,
  before: ArtifactGeneratorStatus,
  run: Run,
  deps: ArtifactGeneratorDeps,
): GeneratorContext {
  const home = leasedCluster(deps.home, run);
  const { name, namespace = "", generation = 0 } = live.metadata;
  const requestedAt = live.metadata.annotations?.[requestedAtAnnotation];
  let written = before;
  const publish = async (status: ArtifactGeneratorStatus): Promise<boolean> => {
    const body = statusPatch(written, status);
    if (body === undefined) return false;
    const options = { manager, subresource: "status" };
    await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
    written = status;
    return true;
  };
  return {
    ...{ live, name, namespace, run, deps, home, before, requestedAt, publish },
    now: () => ({ generation, at: deps.clock.now() }),
    conclude: (status) =>
      publish(requestedAt === undefined ? status : { ...status, lastHandledReconcileAt: requestedAt }),
    status: () => written,
    record: (event) => reportEvent(home, live, event, declaredArtifactGenerator.eventSource, run, deps),
  };
}

/** The key of an ExternalArtifact in the namespace of the generator, the only namespace that it writes to. */
export function artifactKey(name: string, { namespace, run }: Pick<GeneratorContext, "namespace" | "run">): WorkKey {
  const { group, kind } = declaredExternalArtifact;
  return { cluster: run.key.cluster, group, kind, namespace, name };
}

/** Whether an inventory has this artifact. */
export function isListed(
  { digest, name, namespace }: Pick<GeneratedArtifact, "digest" | "name" | "namespace">,
  { inventory = [] }: ArtifactGeneratorStatus,
): boolean {
  return inventory.some((entry) => entry.name === name && entry.namespace === namespace && entry.digest === digest);
}
