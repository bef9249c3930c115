import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { guardedCluster } from "../../lib/gate/guarded-cluster.ts";

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
  const guarded = (cluster: Cluster): Cluster =>
    guardedCluster(cluster, async (options, _signal, send) => {
      const before = looks;
      options.beforeSend?.();
      if (looks === before) throw new Error("a write is sent without a look at the lease");
      return send({ ...options, beforeSend: () => undefined });
    });
  return {
    assertLease() {
      looks += 1;
      assertLease();
    },
    checked: (cluster) => ({ ...cluster, ...guarded(cluster) }),
  };
}
