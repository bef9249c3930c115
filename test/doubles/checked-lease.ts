import type { Cluster } from "../../lib/core/ports/cluster.ts";

/** The lease and the cluster of one run. */
export interface CheckedLease {
  /** The run to use in place of the given one. */
  readonly assertLease: () => void;
  /** The cluster; it refuses each write of the run that does not check the lease right before it is sent. */
  readonly checked: <C extends Cluster>(cluster: C) => C;
}

/**
 * Finds writes without a check of the lease, in any story of a flow. It calls `beforeSend` in place of the adapter, which has
 * to call this run's own `assertLease`. That the adapter calls it as well is shown in test/unit/kube/leased-writes.test.ts.
 */
export function checkedLease(assertLease: () => void): CheckedLease {
  let looks = 0;
  const looked = <Options extends { readonly dryRun?: boolean; readonly beforeSend?: () => void }>(
    verb: string,
    { beforeSend, ...options }: Options,
  ): Omit<Options, "beforeSend"> => {
    if (options.dryRun === true) return options;
    const before = looks;
    beforeSend?.();
    if (looks === before) throw new Error(`${verb} is sent without a look at the lease`);
    return options;
  };
  return {
    assertLease() {
      looks += 1;
      assertLease();
    },
    checked: (cluster) => ({
      ...cluster,
      apply: async (manifest, options, signal) => cluster.apply(manifest, looked("apply", options), signal),
      create: async (manifest, options, signal) => cluster.create(manifest, looked("create", options), signal),
      patch: async (ref, patch, options, signal) => cluster.patch(ref, patch, looked("patch", options), signal),
      delete: async (ref, options, signal) => cluster.delete(ref, looked("delete", options), signal),
    }),
  };
}
