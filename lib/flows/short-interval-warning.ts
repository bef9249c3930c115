import type { Condition } from "../api/condition.ts";
import { minIntervalMs } from "../api/fields.ts";
import { parseDuration } from "../core/duration.ts";
import type { EventToRecord } from "./record-event.ts";

/** The fields of a spec that say how often it runs. */
interface Intervals {
  readonly interval: string;
  readonly retryInterval?: string;
}

/** An object as far as it says whether its users have seen this warning for its spec. */
interface Told {
  readonly generation: number;
  readonly conditions: readonly Condition[];
}

/**
 * The Warning event for an interval that is shorter than an object is run, or undefined where none is or it was told: each
 * generation's first run writes a condition of that generation, so the runs after it know. Zero means no interval.
 */
export function shortIntervalWarning(
  { interval, retryInterval }: Intervals,
  { generation, conditions }: Told,
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
