import type { Log } from "./ports/log.ts";
import type { Metrics } from "./ports/metrics.ts";

/** Metrics as log lines for people, where nothing gathers them. */
export function logMetrics(log: Log): Metrics {
  return {
    record: (about, measures, properties) => log.debug("measured", { key: about, ...properties, ...measures }),
  };
}
