import type { Cluster } from "../core/ports/cluster.ts";
import type { Run } from "../core/run.ts";

/**
 * The cluster for one run: before every write the run must still hold its lease, so a handler that was frozen past it
 * writes nothing after its successor has begun.
 */
export function fencedCluster(cluster: Cluster, run: Pick<Run, "assertLease">): Cluster {
  return {
    ...cluster,
    apply: (manifest, options, signal) => {
      if (options.dryRun !== true) run.assertLease();
      return cluster.apply(manifest, options, signal);
    },
    create: (manifest, options, signal) => {
      if (options.dryRun !== true) run.assertLease();
      return cluster.create(manifest, options, signal);
    },
    patch: (ref, patch, options, signal) => {
      if (options.dryRun !== true) run.assertLease();
      return cluster.patch(ref, patch, options, signal);
    },
    delete: (ref, options, signal) => {
      run.assertLease();
      return cluster.delete(ref, options, signal);
    },
  };
}
