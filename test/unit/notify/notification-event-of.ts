import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";

/** An event of the Kustomization `apps/web` that has failed. */
export function notificationEventOf(given: Partial<NotificationEvent> = {}): NotificationEvent {
  return {
    involvedObject: { kind: "Kustomization", namespace: "apps", name: "web", uid: "u-1" },
    severity: "error",
    timestamp: "2026-11-22T12:00:00Z",
    message: "health check failed",
    reason: "HealthCheckFailed",
    metadata: { revision: "main@sha1:0a1b" },
    reportingController: "kustomize-controller",
    reportingInstance: "sluice",
    ...given,
  };
}
