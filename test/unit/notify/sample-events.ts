import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";

/** An event of Kustomization `retail/shop`, with this or that in another way. */
export function kustomizationEvent(change: Partial<NotificationEvent> = {}): NotificationEvent {
  return {
    involvedObject: {
      kind: "Kustomization",
      namespace: "retail",
      name: "shop",
      uid: "u",
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    },
    severity: "info",
    timestamp: "2026-11-24T12:00:00Z",
    message: "Applied revision: v1",
    reason: "ReconciliationSucceeded",
    reportingController: "kustomize-controller",
    ...change,
  };
}

/** Metadata of the object's own group, and then of users. */
export function metadata(
  own: Readonly<Record<string, string>>,
  ofUsers: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const prefixed = (prefix: string, of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([key, value]) => [`${prefix}/${key}`, value] as const);
  return Object.fromEntries([
    ...prefixed("kustomize.toolkit.fluxcd.io", own),
    ...prefixed("event.toolkit.fluxcd.io", ofUsers),
  ]);
}
