import { cutText } from "../lib/core/cut-text.ts";
import { subject } from "../lib/core/object-ref.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { safeText } from "../lib/core/safe-text.ts";
import type { Notification } from "../lib/notify/notification.ts";

/** The last notifications of a process, for people to read: what Alerts send, also without a Provider that accepts it. In memory. */
export interface RecentNotifications {
  add(notification: Notification): void;
  /** `sent`, or why not; of one that is no longer kept it says nothing. */
  settle(notification: Notification, outcome: string): void;
  /** As text, the newest first. */
  page(): string;
}

export const maxRecent = 100;
export const maxTextBytes = 2_048;

interface Recent {
  readonly at: string;
  readonly notification: Notification;
  outcome: string;
}

export function recentNotifications(clock: Pick<Clock, "now">): RecentNotifications {
  const kept: Recent[] = [];
  return {
    add(notification) {
      kept.unshift({ at: `${new Date(clock.now()).toISOString().slice(0, 19)}Z`, notification, outcome: "waiting" });
      kept.splice(maxRecent);
    },
    settle(notification, outcome) {
      const found = kept.find((one) => one.notification === notification);
      if (found !== undefined) found.outcome = outcome;
    },
    page() {
      const head = `The last ${maxRecent} notifications of this sluice local, the newest first.\n`;
      if (kept.length === 0) return `${head}\nNone yet: no event has matched an Alert.\n`;
      return `${head}\n${kept.map(textOf).join("\n")}`;
    },
  };
}

function textOf({ at, notification, outcome }: Recent): string {
  const { alert, event, provider } = notification;
  const metadata = Object.entries(event.metadata ?? {}).map(([key, value]) => `${key}=${value}`);
  const lines = [
    `${at} ${event.severity} ${subject(event.involvedObject)} ${event.reason}`,
    ...[event.message, ...metadata, `Alert ${named(alert)}, Provider ${named(provider)}: ${outcome}`].map(indented),
  ];
  return `${lines.join("\n")}\n`;
}

function named({ namespace, name }: Notification["alert"]): string {
  return `${namespace}/${name}`;
}

/** Texts of events are of tenants: a line of one looks like no other entry. */
function indented(text: string): string {
  return safeText(cutText(text, maxTextBytes)).replaceAll(/^/gm, "  ");
}
