import type { MetricName, Metrics } from "../lib/core/ports/metrics.ts";
import type { WorkKey } from "../lib/core/work-key.ts";

/** Objects that one telling names; the others are counted. */
export const maxNamed = 20;

/** An object that is counted, with what its line says of it. */
export interface CountedObject {
  readonly key: WorkKey;
  readonly properties: Readonly<Record<string, string>>;
}

/** Counts each of these objects in this metric, and names the first {@link maxNamed}: a log line for each of thousands would cost more than it tells. */
export function countObjects(
  metrics: Metrics,
  metric: MetricName,
  objects: readonly CountedObject[],
  rest: WorkKey,
): void {
  for (const { key, properties } of objects.slice(0, maxNamed)) metrics.record(key, { [metric]: 1 }, properties);
  const unnamed = objects.length - maxNamed;
  if (unnamed > 0) metrics.record(rest, { [metric]: unnamed });
}
