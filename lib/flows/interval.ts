import type { Condition } from "../api/condition.ts";
import { minIntervalMs } from "../api/fields.ts";
import { parseDuration } from "../core/duration.ts";
import { defaultRetryDelay, type RetryDelay } from "../core/failure.ts";
import type { EventToRecord } from "./record-event.ts";

/** When objects run again without an event: settings of the installation, under the names of Flux's flags. */
export interface RunTiming {
  /** `interval-jitter-percentage`: how far from its interval a run may be, either way. 0 to 99. */
  readonly jitterPercentage: number;
  /** `requeue-dependency`: how long an object waits for another one that no event announces. */
  readonly requeueDependencyMs: number;
  /** `min-retry-delay` and `max-retry-delay`. */
  readonly retryDelay: RetryDelay;
}

/**
 * As in Flux.
 *
 * @internal Exported for tests and benches: an installation has it from its settings.
 */
export const defaultTiming: RunTiming = {
  jitterPercentage: 5,
  requeueDependencyMs: 30_000,
  retryDelay: defaultRetryDelay,
};

/**
 * The interval of one run in milliseconds, spread so that many objects with the same interval do not run at once, and at least {@link
 * minIntervalMs}; undefined for 0, which means no periodic run (reference 1.2). `random`: 0 to 1.
 */
export function spreadInterval(
  intervalMs: number,
  random: number,
  { jitterPercentage }: Pick<RunTiming, "jitterPercentage">,
): number | undefined {
  if (intervalMs === 0) return undefined;
  const share = jitterPercentage / 100;
  return Math.max(minIntervalMs, Math.round(intervalMs * (1 - share + 2 * share * random)));
}

/** The fields of a spec that say how often it runs. */
interface Intervals {
  readonly interval?: string;
  readonly retryInterval?: string;
}

/** The part of an object that shows whether its spec was already warned about. */
interface Warned {
  readonly generation: number;
  readonly conditions: readonly Condition[];
}

/**
 * The Warning event for an interval that is too short for an object; undefined if it is long enough, or if this generation was warned
 * already. Its first run writes a condition of that generation, so later runs know. Zero means no interval.
 */
export function shortIntervalWarning(
  { interval, retryInterval }: Intervals,
  { generation, conditions }: Warned,
): EventToRecord | undefined {
  if (conditions.some(({ observedGeneration }) => observedGeneration === generation)) return undefined;
  const fields = Object.entries({ interval, retryInterval }).flatMap(([name, text]) => {
    const ms = text === undefined ? 0 : parseDuration(text);
    return ms > 0 && ms < minIntervalMs ? [`spec.${name} ${text}`] : [];
  });
  if (fields.length === 0) return undefined;
  const message = `${fields.join(" and ")} is shorter than a second: it runs at most once a second`;
  return { type: "Warning", reason: "IntervalTooShort", message, annotations: {} };
}
