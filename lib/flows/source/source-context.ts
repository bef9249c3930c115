import type { KindDeclaration } from "../../api/kinds/declaration.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import type { Artifact, SourceStatus } from "../../api/source.ts";
import type { Digest } from "../../core/digest.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Run } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import type { ArchiveLimits } from "../../sources/archive/unpack.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { type EventToRecord, reportEvent } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";
import { type ConditionByReason, type Now, withTimesOf } from "./source-conditions.ts";

/** The outside services of a source's flow, for every kind. */
export interface SourceDeps extends FlowDeps {
  /** The address under which `status.artifact.path` is served, or would be: consumers of ours go by the digest. */
  readonly artifactUrl: (path: string) => string;
  /** The limits for unpacking; `defaultArchiveLimits` if absent. */
  readonly limits?: ArchiveLimits;
}

/** The differences between the kinds of source in status and storage. */
export interface SourceTraits {
  /** The name of the kind, in lower case, is the first folder in the path of an artifact. */
  readonly declared: KindDeclaration;
  /** The file name at `status.url`, for example `latest.tar.gz`; a kind without it has no such field. */
  readonly latest?: string;
  /** The conditions of failures that only this kind has: any other sets `FetchFailed`, or one of our storage. */
  readonly conditionByReason?: ConditionByReason;
  /** What else this kind records with an artifact, for the present generation, and needs as long as the artifact is kept. */
  readonly recordedBeside?: (artifact: Artifact, generation: number) => readonly Digest[];
}

/** The source object of one run, and its status from the run. */
export interface SourceContext {
  readonly traits: SourceTraits;
  readonly live: LiveObject;
  readonly name: string;
  readonly namespace: string;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  readonly run: Run;
  /** Since when a change of the origin asks for another run of the object, monotonic time: since this run began, or has subscribed. */
  readonly since: number;
  readonly deps: SourceDeps;
  /** The cluster where the object lives. Takes writes only while the run holds its lease. */
  readonly home: HomeCluster;
  now(): Now;
  /** The status as the run found it. */
  readonly before: SourceStatus;
  /** The status as the run has changed it so far, published or not. */
  status(): SourceStatus;
  /** Changes the status without a write: most steps of a run are too short to be worth a status write. */
  setStatus(status: SourceStatus): void;
  /** Writes what differs between the status and the one in the cluster. */
  publish(): Promise<void>;
  /** Publishes the outcome of the run, and that the request for it was handled. */
  conclude(status: SourceStatus): Promise<void>;
  /** Records an event. If the API server does not take it, it is logged and left out: no decision depends on it. */
  record(event: EventToRecord): Promise<void>;
}

export function sourceContext(
  traits: SourceTraits,
  live: LiveObject,
  before: SourceStatus,
  run: Run,
  deps: SourceDeps,
): SourceContext {
  const home = leasedCluster(deps.home, run);
  const { name, namespace = "", generation = 0 } = live.metadata;
  const requestedAt = live.metadata.annotations?.[requestedAtAnnotation];
  let written = before;
  let status = before;
  const publish = async (): Promise<void> => {
    status = withTimesOf(written, status);
    const body = statusPatch(written, status);
    if (body === undefined) return;
    const options = { manager: traits.declared.statusManager, subresource: "status" };
    await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
    written = status;
  };
  return {
    traits,
    live,
    name,
    namespace,
    requestedAt,
    run,
    since: deps.clock.monotonic(),
    deps,
    home,
    now: () => ({ generation, at: deps.clock.now() }),
    before,
    status: () => status,
    setStatus: (next) => {
      status = next;
    },
    publish,
    conclude: (next) => {
      status = requestedAt === undefined ? next : { ...next, lastHandledReconcileAt: requestedAt };
      return publish();
    },
    record: (event) => reportEvent(home, live, event, traits.declared.eventSource, run, deps),
  };
}
