import type { Cluster } from "../core/ports/cluster.ts";
import type { Run } from "../core/ports/run.ts";

/**
 * A cluster, home or target, for one run: each write checks that the run still holds its lease, so a handler that was frozen past the
 * lease writes nothing after its successor has begun. Checked at the call, and by the adapter once more right before it sends: what the
 * adapter waits for until then (discovery, the cluster's address, a token, a pause between tries) may outlast the lease.
 */
export function leasedCluster<C extends Cluster>(cluster: C, run: Pick<Run, "assertLease">): C {
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
