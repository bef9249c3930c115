import type { KindDeclaration } from "../api/kinds/declaration.ts";
import { requestedAtAnnotation } from "../api/names.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Run } from "../core/ports/run.ts";
import { leasedCluster } from "../gate/leased-cluster.ts";
import type { FlowDeps } from "./flow-deps.ts";
import { type EventToRecord, reportEvent } from "./record-event.ts";
import { statusPatch } from "./status-patch.ts";

/** The status of a kind that confirms requests for a run. */
export interface RequestedStatus {
  readonly lastHandledReconcileAt?: string | undefined;
}

/** The object of one run, and its status from the run. */
export interface RunContext<Status, Deps> {
  readonly live: LiveObject;
  readonly name: string;
  readonly namespace: string;
  readonly run: Run;
  readonly deps: Deps;
  /** The field manager of the object's status and finalizers. */
  readonly manager: string;
  /** The cluster where the object lives. Takes writes only while the run holds its lease. */
  readonly home: HomeCluster;
  /** The status as the run found it. */
  readonly before: Status;
  /** The value of the request annotation, to be copied to the status at the end of the run. */
  readonly requestedAt: string | undefined;
  /** Whether the annotation asks for a run that has not been done yet. */
  readonly isAsked: boolean;
  /** The generation of the object and the time, for conditions. */
  now(): { readonly generation: number; readonly at: number };
  /** The status as the run has changed it so far, published or not. */
  status(): Status;
  /** Changes the status without a write: most steps of a run are too short to be worth one. */
  setStatus(status: Status): void;
  /** Writes what differs between the status, by default the present one, and the one in the cluster. Answers whether it wrote anything. */
  publish(status?: Status): Promise<boolean>;
  /** Publishes the outcome of the run, and that the request for it was handled. Answers whether it wrote anything. */
  conclude(status: Status): Promise<boolean>;
  /** Records an event. If the API server does not accept it, it is logged and left out: no decision depends on it. */
  record(event: EventToRecord): Promise<void>;
}

/** @param settled the status to write, by the one written before and the new one: for times that stay while nothing else changes */
export function runContext<Status extends RequestedStatus, Deps extends Pick<FlowDeps, "clock" | "home" | "log">>(
  { eventSource, statusManager: manager }: Pick<KindDeclaration, "eventSource" | "statusManager">,
  live: LiveObject,
  before: Status,
  run: Run,
  deps: Deps,
  settled: (written: Status, next: Status) => Status = (_written, next) => next,
): RunContext<Status, Deps> {
  const home = leasedCluster(deps.home, run);
  const { name, namespace = "", generation = 0 } = live.metadata;
  const requestedAt = live.metadata.annotations?.[requestedAtAnnotation];
  let written = before;
  let status = before;
  const publish = async (next = status): Promise<boolean> => {
    status = settled(written, next);
    const body = statusPatch(written, status);
    if (body === undefined) return false;
    const options = { manager, subresource: "status" };
    await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
    written = status;
    return true;
  };
  return {
    ...{ live, name, namespace, run, deps, manager, home, before, requestedAt, publish },
    isAsked: requestedAt !== undefined && requestedAt !== before.lastHandledReconcileAt,
    now: () => ({ generation, at: deps.clock.now() }),
    status: () => status,
    setStatus: (next) => {
      status = next;
    },
    conclude: (next) => publish(requestedAt === undefined ? next : { ...next, lastHandledReconcileAt: requestedAt }),
    record: (event) => reportEvent(home, live, event, eventSource, run, deps),
  };
}
