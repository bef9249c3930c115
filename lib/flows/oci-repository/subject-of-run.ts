import { requestedAtAnnotation } from "../../api/names.ts";
import type { OciRepositoryStatus } from "../../api/oci-repository.ts";
import { fencedCluster } from "../../apply/fenced-cluster.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import type { Run } from "../../core/run.ts";
import { type EventToRecord, tellUsers } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";
import type { OciRepositoryDeps } from "./deps.ts";
import { type Now, settled } from "./stages.ts";

/** The name under which Flux writes an OCIRepository's finalizer and status, as recorded from Flux 2.9. */
export const sourceManager = "source-controller";

/** The OCIRepository of one run, and what is said of it. */
export interface SubjectOfRun {
  readonly live: LiveObject;
  readonly name: string;
  readonly namespace: string;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  readonly run: Run;
  readonly deps: OciRepositoryDeps;
  /** Writes only while the run holds its lease. */
  readonly cluster: Cluster;
  now(): Now;
  /** The status as the run found it. */
  readonly before: OciRepositoryStatus;
  /** What there is to say by now, published or not. */
  status(): OciRepositoryStatus;
  /** Says it, without a write: most stages of a run are over before anybody could read of them. */
  say(status: OciRepositoryStatus): void;
  /** Writes what there is to say where that differs from what is written. */
  publish(): Promise<void>;
  /** Says the outcome of the run, and that the request for it was handled. */
  conclude(status: OciRepositoryStatus): Promise<void>;
  /** Tells the users. An event that the API server does not take is logged and left out: it decides nothing. */
  tell(event: EventToRecord): Promise<void>;
}

export function subjectOfRun(
  live: LiveObject,
  before: OciRepositoryStatus,
  run: Run,
  deps: OciRepositoryDeps,
): SubjectOfRun {
  const cluster = fencedCluster(deps.cluster, run);
  const { name, namespace = "", generation = 0 } = live.metadata;
  const requestedAt = live.metadata.annotations?.[requestedAtAnnotation];
  let written = before;
  let status = before;
  const publish = async (): Promise<void> => {
    status = settled(written, status);
    const body = statusPatch(written, status);
    if (body === undefined) return;
    const options = { manager: sourceManager, subresource: "status" };
    await cluster.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
    written = status;
  };
  return {
    live,
    name,
    namespace,
    requestedAt,
    run,
    deps,
    cluster,
    now: () => ({ generation, at: deps.clock.now() }),
    before,
    status: () => status,
    say: (next) => {
      status = next;
    },
    publish,
    conclude: (next) => {
      status = requestedAt === undefined ? next : { ...next, lastHandledReconcileAt: requestedAt };
      return publish();
    },
    tell: (event) => tellUsers(cluster, live, event, "source-controller", run, deps),
  };
}
