import type { NotificationEvent } from "./notification-event.ts";

/** An object by its namespace and name. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** An event that an Alert has matched, on its way to the Provider of the Alert. It names the objects and has nothing of their contents. */
export interface Notification {
  /** Id of the cluster that the objects are in. */
  readonly cluster: string;
  readonly alert: Named;
  readonly provider: Named;
  /** By which events are told to be the same: {@link eventKey}. */
  readonly eventKey: string;
  /** Its metadata is not merged yet. */
  readonly event: NotificationEvent;
}

/**
 * Where notifications wait for their delivery. The notifications of one object for one Provider are delivered in the order in which
 * they were added.
 */
export interface NotificationQueue {
  add(notifications: readonly Notification[], signal: AbortSignal): Promise<void>;
}
