import { digestOf } from "../../core/digest.ts";
import type { TargetMessage } from "../../core/ports/notification-targets.ts";
import type { NotificationEvent } from "../notification-event.ts";
import type { ProviderSettings } from "../provider.ts";

/** The event as Flux posts it, with what subscribers of a topic or a queue may filter by. Pure. */
export function targetMessage(
  event: NotificationEvent,
  { alert, namespace }: Pick<ProviderSettings, "alert" | "namespace">,
): TargetMessage {
  const { involvedObject: object, reason, severity } = event;
  const body = JSON.stringify(event);
  const attributes = { severity, kind: object.kind, namespace: object.namespace, name: object.name, reason };
  return {
    ...{ namespace, body },
    attributes: Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== "")),
    group: hexOf([object.kind, object.namespace, object.name]),
    // A message that is tried again is the same one.
    id: hexOf([alert.uid, body]),
  };
}

function hexOf(parts: readonly string[]): string {
  return digestOf(JSON.stringify(parts)).slice("sha256:".length);
}
