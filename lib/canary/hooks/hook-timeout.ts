import { parseGoDuration } from "../../core/go-duration.ts";
import type { Clock } from "../../core/ports/clock.ts";

const defaultTimeout = "10s";

/**
 * The limit for the webhooks and alerts of one step together, their retries included: a step must end before its process does, which in AWS
 * is after 15 minutes.
 */
export const maxHookMs = 600_000;

/** Counts the time of a step from now on: how many whole milliseconds its webhooks and alerts still have. */
export function hookTime({ monotonic }: Pick<Clock, "monotonic">): () => number {
  const start = monotonic();
  return () => Math.max(0, Math.ceil(start + maxHookMs - monotonic()));
}

/** Why a webhook or an alert is not called. */
export const noHookTime = `it is not called: the webhooks and alerts of this step have taken ${maxHookMs / 60_000} minutes together, which is the limit of one step; let long tests run in a Job that the webhook starts`;

/**
 * Milliseconds that one attempt of a webhook may take (reference canary 12); `0s` is no limit of its own. Throws Go's text for an invalid
 * duration: the CRD checks only its beginning.
 */
export function hookTimeoutMs(timeout: string | undefined): number {
  const text = timeout === undefined || timeout.length < 2 ? defaultTimeout : timeout;
  // A timer takes whole milliseconds.
  const ms = Math.ceil(parseGoDuration(text));
  return ms === 0 ? maxHookMs : Math.min(ms, maxHookMs);
}
