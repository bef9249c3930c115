import { goJson } from "../core/go-json.ts";
import type { NotificationEvent } from "./notification-event.ts";

/** The event as Flux posts it: without empty fields that may be left out, and `null` for a time that is missing. */
export function eventJson(event: NotificationEvent): string {
  const { involvedObject, metadata = {}, timestamp } = event;
  const { kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath } = involvedObject;
  return goJson({
    involvedObject: {
      kind: notEmpty(kind),
      namespace: notEmpty(namespace),
      name: notEmpty(name),
      uid: notEmpty(uid),
      apiVersion: notEmpty(apiVersion),
      resourceVersion: notEmpty(resourceVersion),
      fieldPath: notEmpty(fieldPath),
    },
    severity: event.severity,
    timestamp: timestamp === "" ? null : timestamp,
    message: event.message,
    reason: event.reason,
    metadata: Object.keys(metadata).length === 0 ? undefined : new Map(Object.entries(metadata)),
    reportingController: event.reportingController,
    reportingInstance: notEmpty(event.reportingInstance),
  });
}

function notEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
