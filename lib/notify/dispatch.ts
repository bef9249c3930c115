import { notificationGroup } from "../api/names.ts";
import type { ReportedEvent } from "../core/event-manifest.ts";
import { messageOf } from "../core/failure.ts";
import { parseApiVersion } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { EventSink } from "../core/ports/event-sink.ts";
import type { EventWindows } from "../core/ports/event-windows.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Log } from "../core/ports/log.ts";
import { warnOfAlert } from "./alert-event.ts";
import { eventKey } from "./event-key.ts";
import { keepMetadata } from "./keep-metadata.ts";
import type { ListedAlerts } from "./listed-alerts.ts";
import { concerns, type LabelsOf, matchAlert } from "./match-alert.ts";
import type { Notification, NotificationQueue } from "./notification.ts";
import type { NotificationEvent } from "./notification-event.ts";

export interface DispatchDeps {
  /** The clusters that are served here. */
  readonly clusters: { get(id: string): { readonly home: HomeCluster } | undefined };
  readonly alerts: ListedAlerts;
  readonly windows: EventWindows;
  readonly queue: NotificationQueue;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Takes each event that was recorded, finds the Alerts that send it, and queues one notification for each of them (reference notifications
 * 12, 13). An event that no Alert can be for costs nothing but a look at the list of Alerts.
 */
export function dispatchEvents(deps: DispatchDeps): EventSink {
  return {
    async tell(cluster, recorded, signal) {
      // No source names a Receiver, Alert or Provider; and an event on an Alert is about a delivery.
      if (parseApiVersion(recorded.involvedObject.apiVersion).group === notificationGroup) return;
      try {
        await dispatchEvent(cluster, eventOf(recorded), deps, signal);
      } catch (error) {
        signal.throwIfAborted();
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
  if (!(await windows.take(cluster, key, clock.now(), signal))) return "repeated";
  const labelsOf = onceRead(event, home, signal);
  const notifications: Notification[] = [];
  for (const alert of concerned) {
    const { name, namespace, spec } = alert;
    const { isMatch, faults } = await matchAlert(event, alert, labelsOf);
    for (const fault of faults) await warnOfAlert(alert.live, fault, { ...deps, cluster, home }, signal);
    if (!isMatch) continue;
    const provider = { namespace, name: spec.providerRef.name };
    notifications.push({ cluster, alert: { namespace, name }, provider, eventKey: key, event: keepMetadata(event) });
  }
  if (notifications.length > 0) await queue.add(notifications, signal);
  return "first";
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
