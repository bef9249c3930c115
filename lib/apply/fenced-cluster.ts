import type { Cluster } from "../core/ports/cluster.ts";
import type { Run } from "../core/run.ts";

/**
 * The cluster for one run: for every write the run must still hold its lease, so a handler that was frozen past it writes
 * nothing after its successor has begun. Asked at the call, and by the adapter once more right before it sends: what it has
 * to wait for until then (the cluster's kinds, its address, a token, a pause between tries) may outlast the lease.
 */
export function fencedCluster(cluster: Cluster, run: Pick<Run, "assertLease">): Cluster {
  const beforeSend = (): void => run.assertLease();
  const guarded = <Options extends { readonly dryRun?: boolean }>(options: Options): Options => {
    if (options.dryRun === true) return options;
    beforeSend();
    return { ...options, beforeSend };
  };
  return {
    ...cluster,
    apply: async (manifest, options, signal) => cluster.apply(manifest, guarded(options), signal),
    create: async (manifest, options, signal) => cluster.create(manifest, guarded(options), signal),
    patch: async (ref, patch, options, signal) => cluster.patch(ref, patch, guarded(options), signal),
    delete: async (ref, options, signal) => {
      beforeSend();
      return cluster.delete(ref, { ...options, beforeSend }, signal);
    },
  };
}
