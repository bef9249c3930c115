import type { ConditionReason } from "../api/condition.ts";
import { eventManifest, type ReportedEvent } from "../core/event-manifest.ts";
import type { EventRelation } from "../core/event-relation.ts";
import { type EventReason, messageOf } from "../core/failure.ts";
import type { LiveObject } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Log } from "../core/ports/log.ts";
import { type Run } from "../core/ports/run.ts";
import { leasedCluster } from "../gate/leased-cluster.ts";

/** A message to the users of an object. Reason and message are Flux's, since alerts match on them. */
export interface EventToRecord {
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason | ConditionReason;
  readonly message: string;
  /** Revision and the like, as Flux's event metadata: keys are whole annotation keys. */
  readonly annotations: Readonly<Record<string, string>>;
  /** How it relates to other objects. Alerts group messages by it; it is not part of the Event. */
  readonly relation?: EventRelation | undefined;
  /** Of type Trace in Flux: for users who look at the object; no Alert sends it. */
  readonly isTrace?: boolean;
}

const eventMetadataPrefix = "event.toolkit.fluxcd.io/";

/**
 * Writes a Kubernetes Event about `object`, under the name of the Flux controller that users look for (`source`). Copies
 * the object's `event.toolkit.fluxcd.io/` annotations. Written in the run, so it needs the lease like any other write.
 */
export async function recordEvent(
  cluster: HomeCluster,
  object: LiveObject,
  event: EventToRecord,
  source: string,
  run: Run,
  clock: Clock,
): Promise<void> {
  await create(manifestOf(object, event, source, clock.now()), event, cluster, run);
}

function manifestOf(object: LiveObject, event: EventToRecord, source: string, now: number): ReportedEvent {
  const { message, reason, type } = event;
  const annotations = { ...ownMetadata(object), ...event.annotations };
  return eventManifest(object, { type, reason, message, annotations }, source, now);
}

/**
 * Sent before it is written, so that it is sent even if the process ends in between: the next run need not record it again. So an
 * event that the API server refuses is sent too: receivers of Alerts do not read the cluster's Events.
 */
async function create(event: ReportedEvent, telling: Telling, cluster: HomeCluster, run: Run): Promise<void> {
  await tell(event, telling, run);
  await leasedCluster(cluster, run).create(event, { manager: event.reportingComponent }, run.signal);
}

type Telling = Pick<EventToRecord, "isTrace" | "relation">;

async function tell(event: ReportedEvent, { isTrace, relation }: Telling, run: Run): Promise<void> {
  if (isTrace === true || run.events === undefined) return;
  run.assertLease();
  await run.events.tell(run.key.cluster, event, relation, run.signal);
}

/** The run, without sending its events to Alerts. */
export function untold({ events: _events, ...run }: Run): Run {
  return run;
}

/** The means of reporting an event. */
interface Reporting {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * {@link recordEvent}, but one that the API server does not take is logged and left out: it decides nothing. A terminating namespace
 * accepts no events, and the log says so once for all objects in it.
 */
export async function reportEvent(
  cluster: HomeCluster,
  object: LiveObject,
  event: EventToRecord,
  source: string,
  run: Run,
  { clock, log }: Reporting,
): Promise<void> {
  await createOrLog(manifestOf(object, event, source, clock.now()), event, cluster, run, log);
}

/** As {@link reportEvent}, for an event that was held back and relates to no other object. */
export async function sendEvent(event: ReportedEvent, cluster: HomeCluster, run: Run, log: Log): Promise<void> {
  await createOrLog(event, {}, cluster, run, log);
}

async function createOrLog(
  event: ReportedEvent,
  telling: Telling,
  cluster: HomeCluster,
  run: Run,
  log: Log,
): Promise<void> {
  try {
    await create(event, telling, cluster, run);
    terminating.get(log)?.delete(namespaceOf(run));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (isForTermination(error)) return logTermination(run, error, log);
    log.warn("event not recorded", { ...run.key, reason: event.reason, error: messageOf(error) });
  }
}

/** The namespaces for which a log already says that they accept no events. */
const terminating = new WeakMap<Log, Set<string>>();
/** More than terminate at the same time. */
const maxTerminating = 1_000;

function logTermination(run: Run, error: ApiError, log: Log): void {
  const logged = terminating.get(log) ?? new Set();
  terminating.set(log, logged);
  if (logged.has(namespaceOf(run))) return;
  if (logged.size >= maxTerminating) logged.clear();
  logged.add(namespaceOf(run));
  const { cluster, namespace } = run.key;
  log.warn("events not recorded in a namespace that terminates", { cluster, namespace, error: messageOf(error) });
}

function isForTermination({ causes }: ApiError): boolean {
  return causes.some(({ reason }) => reason === "NamespaceTerminating");
}

function namespaceOf({ key }: Run): string {
  return `${key.cluster}/${key.namespace}`;
}

function ownMetadata(object: LiveObject): Record<string, string> {
  const annotations = Object.entries(object.metadata.annotations ?? {});
  return Object.fromEntries(annotations.filter(([key]) => key.startsWith(eventMetadataPrefix)));
}
