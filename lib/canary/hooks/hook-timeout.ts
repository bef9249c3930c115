import { parseDuration } from "../../core/duration.ts";

const defaultTimeout = "10s";

/** The longest time that one call of a webhook takes, its retries included: a step has to end before its process does. */
export const maxHookMs = 600_000;

/**
 * Milliseconds that one attempt of a webhook may take (reference canary 12); `0s` is no limit of its own. Throws Go's text for what is not a
 * duration: the CRD looks at the beginning only.
 */
export function hookTimeoutMs(timeout: string | undefined): number {
  const text = timeout === undefined || timeout.length < 2 ? defaultTimeout : timeout;
  const ms = durationMs(text);
  return ms === 0 ? maxHookMs : Math.min(ms, maxHookMs);
}

function durationMs(text: string): number {
  try {
    return parseDuration(text);
  } catch (cause) {
    throw new Error(`time: ${goDurationFault(text)}`, { cause });
  }
}

/** What Go's `time.ParseDuration` says of a text that is no duration. */
function goDurationFault(text: string): string {
  const quoted = JSON.stringify(text);
  for (let rest = text; rest !== ""; ) {
    const [part = "", amount = "", unit = ""] = /^(\d*\.?\d*)([^.\d]*)/.exec(rest) ?? [];
    if (!/\d/.test(amount)) break;
    if (unit === "") return `missing unit in duration ${quoted}`;
    if (!/^(?:ns|us|ms|s|m|h)$/.test(unit)) return `unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
    rest = rest.slice(part.length);
  }
  return `invalid duration ${quoted}`;
}
