import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Deliver } from "../lib/notify/deliver.ts";
import type { Notification, NotificationQueue } from "../lib/notify/notification.ts";
import { type SharedReads, sharedReads } from "../lib/notify/shared-reads.ts";
import type { RecentNotifications } from "./recent-notifications.ts";

export interface NotificationsDeps {
  readonly deliver: Deliver;
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  readonly log: Log;
  /** Shows people what is sent. */
  readonly recent?: RecentNotifications;
}

/** The notifications of a process. */
export interface Notifications extends NotificationQueue {
  /** Resolves when nothing is being delivered any more; what waited when the signal was aborted is lost, as in Flux. */
  ended(): Promise<void>;
}

/** The limit for waiting events of one slow Provider. */
const maxWaiting = 10_000;
/** The limit for tries of one notification if the cluster does not answer: if a Provider refuses one, it is not tried again here. */
const maxTries = 6;
const firstWaitMs = 1_000;

/** Delivers those of each Provider one after the other in this process, and those of several Providers side by side. */
export function startNotifications(deps: NotificationsDeps, signal: AbortSignal): Notifications {
  const lanes = new Map<string, Notification[]>();
  const running = new Set<Promise<void>>();

  const drain = async (lane: string, waiting: Notification[]): Promise<void> => {
    let reads = sharedReads(deps.clock);
    /** The notifications that waited when the reads began. */
    let left = waiting.length;
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      if (left === 0) {
        reads = sharedReads(deps.clock);
        left = waiting.length + 1;
      }
      left -= 1;
      await deliverInTries(next, reads, deps, signal);
    }
    lanes.delete(lane);
  };
  return {
    async add(notifications) {
      if (signal.aborted) return;
      for (const notification of notifications) {
        deps.recent?.add(notification);
        const lane = laneOf(notification);
        const waiting = lanes.get(lane);
        if (waiting === undefined) {
          const first = [notification];
          lanes.set(lane, first);
          const work = drain(lane, first).finally(() => running.delete(work));
          running.add(work);
        } else if (waiting.length < maxWaiting) {
          waiting.push(notification);
        } else {
          deps.recent?.settle(notification, "not sent: too many wait for the Provider");
          deps.log.warn("notification dropped, too many wait for the Provider", fieldsOf(notification));
        }
      }
    },
    async ended() {
      await Promise.allSettled(running);
    },
  };
}

async function deliverInTries(
  notification: Notification,
  reads: SharedReads,
  { deliver, clock, log, recent }: NotificationsDeps,
  signal: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => signal.aborted;
  for (let tries = 1; !isStopped(); tries++) {
    try {
      return await deliver(notification, signal, reads);
    } catch (error) {
      if (isStopped()) return;
      const fields = { ...fieldsOf(notification), tries, error: messageOf(error) };
      if (tries === maxTries) {
        recent?.settle(notification, `not sent: the cluster does not answer: ${messageOf(error)}`);
        return log.error("notification not handled", fields);
      }
      log.warn("notification not handled, trying again", fields);
      await clock.sleep(firstWaitMs * 2 ** (tries - 1), signal).catch(() => undefined);
    }
  }
}

function laneOf({ cluster, provider }: Notification): string {
  return `${cluster}/${provider.namespace}/${provider.name}`;
}

function fieldsOf({ alert, cluster, provider }: Notification) {
  return { cluster, namespace: alert.namespace, alert: alert.name, provider: provider.name };
}
