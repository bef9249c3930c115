import { messageOf } from "../../../core/failure.ts";
import { parseGoDuration } from "../../../core/go-duration.ts";
import { MetricFault } from "./metric-server.ts";

/**
 * Milliseconds of a metric's interval. Throws Flagger's text if it is not a duration; a MetricTemplate has no default (reference canary 20,
 * 9).
 */
export function intervalMs(interval: string): number {
  try {
    return parseGoDuration(interval);
  } catch (error) {
    throw new MetricFault(`error parsing metric interval: ${messageOf(error)}`, { cause: error });
  }
}

/** How many intervals of a metric most servers are asked for. */
export const windowIntervals = 10;

/** The value of a Secret's key. Throws Flagger's text if there is none. */
export function credential(provider: string, key: string, secret: ReadonlyMap<string, string> | undefined): string {
  const value = secret?.get(key);
  if (value !== undefined) return value;
  throw new MetricFault(`${provider} credentials does not contain ${key}`);
}
