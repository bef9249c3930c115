import { parseGoDuration } from "../../core/go-duration.ts";

const defaultTimeout = "10s";

/** The longest time that one call of a webhook takes, its retries included: a step has to end before its process does. */
export const maxHookMs = 600_000;

/**
 * Milliseconds that one attempt of a webhook may take (reference canary 12); `0s` is no limit of its own. Throws Go's text for what is not a
 * duration: the CRD looks at the beginning only.
 */
export function hookTimeoutMs(timeout: string | undefined): number {
  const text = timeout === undefined || timeout.length < 2 ? defaultTimeout : timeout;
  // A timer takes whole milliseconds.
  const ms = Math.ceil(parseGoDuration(text));
  return ms === 0 ? maxHookMs : Math.min(ms, maxHookMs);
}
