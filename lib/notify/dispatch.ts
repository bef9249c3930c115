import { notificationGroup } from "../api/names.ts";
import type { ReportedEvent } from "../core/event-manifest.ts";
import type { EventRelation } from "../core/event-relation.ts";
import { messageOf } from "../core/failure.ts";
import { parseApiVersion } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { EventSink } from "../core/ports/event-sink.ts";
import type { EventWindows } from "../core/ports/event-windows.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import { warnOfAlert } from "./alert-event.ts";
import { eventKey } from "./event-key.ts";
import { type GroupingDeps, groupMessages } from "./group-messages.ts";
import { keepMetadata } from "./keep-metadata.ts";
import type { ListedAlert, ListedAlerts } from "./listed-alerts.ts";
import { concerns, type LabelsOf, matchAlert } from "./match-alert.ts";
import type { Notification, NotificationQueue } from "./notification.ts";
import type { NotificationEvent } from "./notification-event.ts";

export interface DispatchDeps extends GroupingDeps {
  /** The clusters that are served here. */
  readonly clusters: { get(id: string): { readonly home: HomeCluster } | undefined };
  readonly alerts: ListedAlerts;
  readonly windows: EventWindows;
  readonly queue: NotificationQueue;
  readonly clock: Clock;
}

/**
 * Takes each event that was recorded, finds the Alerts that send it, and queues one notification for each of them (reference notifications
 * 12, 13). An event that no Alert can be for costs nothing but a look at the list of Alerts.
 */
export function dispatchEvents(deps: DispatchDeps): EventSink {
  return {
    async tell(cluster, recorded, relation, signal) {
      // No source names a Receiver, Alert or Provider; and an event on an Alert is about a delivery.
      if (parseApiVersion(recorded.involvedObject.apiVersion).group === notificationGroup) return;
      try {
        await dispatchEvent(cluster, eventOf(recorded), relation, deps, signal);
      } catch (error) {
        signal.throwIfAborted();
        // It may be repeated, and what a cluster refuses for good is not helped by that.
        if (!(error instanceof ApiError && isRefusal(error))) throw error;
        const { kind, namespace, name } = recorded.involvedObject;
        const { reason } = recorded;
        deps.log.warn("event not sent", { cluster, kind, namespace, name, reason, error: messageOf(error) });
      }
    },
  };
}

/**
 * Queues one notification for each Alert that sends this event. Answers whether it was the first of its key in its window: of any other
 * nothing is sent.
 */
export async function dispatchEvent(
  cluster: string,
  event: NotificationEvent,
  relation: EventRelation | undefined,
  deps: DispatchDeps,
  signal: AbortSignal,
): Promise<"first" | "repeated"> {
  const { alerts, clock, clusters, queue, windows } = deps;
  const home = clusters.get(cluster)?.home;
  if (home === undefined) return "first";
  const concerned = (await alerts.of(cluster, home, signal)).filter((alert) => concerns(event, alert));
  if (concerned.length === 0) return "first";
  // Before anything is matched: an event that met a suspended Alert counts too, as recorded.
  const key = eventKey(event);
  const now = clock.now();
  const isFirst = !(await windows.covers(cluster, key, now, signal));
  // A message about the end of an outage may be about another outage than the last message with the same text.
  if (!isFirst && relation?.kind !== "recovered") return "repeated";
  const mayBeOfGroup = relation?.kind === "waits" || relation?.kind === "recovered";
  const labelsOf = onceRead(event, home, signal);
  // One for all Alerts: thousands of notifications may wait.
  const kept = keepMetadata(event);
  const notifications: Notification[] = [];
  const afterwards: ((stop: AbortSignal) => Promise<void>)[] = [];
  for (const alert of concerned) {
    const { name, namespace, spec } = alert;
    const { isMatch, faults } = isFirst ? await matchAlert(event, alert, labelsOf) : { isMatch: false, faults: [] };
    for (const fault of faults) await warnOfAlert(alert.live, fault, { ...deps, cluster, home }, signal);
    const isHeldBack = mayBeOfGroup && !isMatch && (await isMatchOfAnySeverity(event, alert, labelsOf));
    const outgoing = { cluster, home, alert, event, relation, isSent: isMatch, isHeldBack };
    const grouped = await groupMessages(outgoing, deps, signal);
    if (grouped.afterwards !== undefined) afterwards.push(grouped.afterwards);
    const provider = { namespace, name: spec.providerRef.name };
    for (const one of grouped.events) {
      // What stands for the event, or is sent beside it, is no copy of it to the queue.
      const of = one === event ? { eventKey: key, event: kept } : { eventKey: eventKey(one), event: keepMetadata(one) };
      notifications.push({ cluster, alert: { namespace, name }, provider, ...of });
    }
  }
  if (notifications.length > 0) await queue.add(notifications, signal);
  for (const write of afterwards) await write(signal);
  // Last, so that what a killed process did not queue is queued when its run is repeated.
  if (isFirst) await windows.take(cluster, key, now, signal);
  return isFirst ? "first" : "repeated";
}

async function isMatchOfAnySeverity(
  event: NotificationEvent,
  alert: ListedAlert,
  labelsOf: LabelsOf,
): Promise<boolean> {
  const { isMatch } = await matchAlert(event, { ...alert, spec: { ...alert.spec, eventSeverity: "info" } }, labelsOf);
  return isMatch;
}

/** Whether the answer is about the request or our rights, and not about a cluster that cannot answer now. */
function isRefusal({ code }: ApiError): boolean {
  return code >= 400 && code < 500 && ![401, 408, 429].includes(code);
}

/** The event as Flux's controllers post it. */
function eventOf({ involvedObject, lastTimestamp, metadata, ...event }: ReportedEvent): NotificationEvent {
  const { annotations = {} } = metadata;
  return {
    involvedObject,
    severity: event.type === "Warning" ? "error" : "info",
    timestamp: lastTimestamp,
    message: event.message,
    reason: event.reason,
    ...(Object.keys(annotations).length === 0 ? {} : { metadata: annotations }),
    reportingController: event.reportingComponent,
    reportingInstance: event.reportingInstance,
  };
}

/** The labels of the event's object in the API version of the event, read once for all Alerts. */
function onceRead({ involvedObject }: NotificationEvent, home: HomeCluster, signal: AbortSignal): LabelsOf {
  let labels: ReturnType<LabelsOf> | undefined;
  const read: LabelsOf = async () => {
    const { apiVersion = "", kind, name, namespace } = involvedObject;
    try {
      const live = await home.get({ ...parseApiVersion(apiVersion), kind, name, namespace }, signal);
      return live && (live.metadata.labels ?? {});
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  };
  return () => (labels ??= read());
}
