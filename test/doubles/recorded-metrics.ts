import type { Measures, Metrics } from "../../lib/core/ports/metrics.ts";

type Recorded = readonly [object: string, measures: Measures, properties?: Readonly<Record<string, string>>];

/** Metrics for tests: the measurements in order, the object as `Kind/namespace/name`. */
export function recordedMetrics(): Metrics & { readonly recorded: Recorded[] } {
  const recorded: Recorded[] = [];
  return {
    recorded,
    record({ kind, namespace, name }, measures, properties) {
      const object = `${kind}/${namespace}/${name}`;
      recorded.push(properties === undefined ? [object, measures] : [object, measures, properties]);
    },
  };
}
