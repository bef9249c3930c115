import { declaredAlert } from "../api/kinds/alert.ts";
import { type EventWords, eventManifest } from "../core/event-manifest.ts";
import { messageOf } from "../core/failure.ts";
import type { LiveObject } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Log } from "../core/ports/log.ts";
import { safeMessage } from "../core/safe-text.ts";

/** The parts that record a Warning event on an Alert. */
export interface AlertEventParts {
  readonly home: Pick<HomeCluster, "create">;
  readonly cluster: string;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** What went wrong with an event, in Flux's words. */
export interface AlertWarning extends Omit<EventWords, "annotations" | "type"> {
  readonly annotations?: EventWords["annotations"];
}

/**
 * Tells the users of an Alert by a Warning event on it, as Flux does, and the log. An event that cannot be recorded is logged and left
 * out.
 */
export async function warnOfAlert(
  alert: LiveObject,
  { annotations = {}, reason, message }: AlertWarning,
  { cluster, clock, home, log }: AlertEventParts,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace = "" } = alert.metadata;
  const fields = { cluster, namespace, alert: name, reason };
  log.warn("notification not sent as wanted", { ...fields, error: safeMessage(message) });
  const { eventSource } = declaredAlert;
  const event = eventManifest(alert, { type: "Warning", reason, message, annotations }, eventSource, clock.now());
  try {
    await home.create(event, { manager: eventSource }, signal);
  } catch (error) {
    // A notification that was tried is done with, whatever becomes of this.
    signal.throwIfAborted();
    log.warn("event not recorded", { ...fields, error: messageOf(error) });
  }
}
