import { parseGoDuration } from "../../core/go-duration.ts";
import type { Clock } from "../../core/ports/clock.ts";

const defaultTimeout = "10s";

/**
 * How long all webhooks and alerts of one step may take together, with their retries. A step must end before its Lambda function times
 * out, which is after 15 minutes.
 */
export const maxHookMs = 600_000;

/** Starts the time of a step. Each call returns how many milliseconds its webhooks and alerts have left, rounded up. */
export function hookTime({ monotonic }: Pick<Clock, "monotonic">): () => number {
  const start = monotonic();
  return () => Math.max(0, Math.ceil(start + maxHookMs - monotonic()));
}

/** The error for a webhook or alert once this time is used up. */
export const noHookTime = `it is not called: the webhooks and alerts of this step have taken ${maxHookMs / 60_000} minutes together, which is the limit of one step; let long tests run in a Job that the webhook starts`;

/**
 * How many milliseconds one attempt of a webhook may take (reference canary 12); `0s` means as long as the step allows. Throws Go's error
 * for an invalid duration, since the CRD checks only how it begins.
 */
export function hookTimeoutMs(timeout: string | undefined): number {
  const text = timeout === undefined || timeout.length < 2 ? defaultTimeout : timeout;
  // A timer takes whole milliseconds.
  const ms = Math.ceil(parseGoDuration(text));
  return ms === 0 ? maxHookMs : Math.min(ms, maxHookMs);
}
