import { asHome, asTarget, type HomeCluster, type TargetCluster } from "../core/ports/home-and-target.ts";
import { type Run } from "../core/ports/run.ts";
import { guardedCluster } from "./guarded-cluster.ts";

/**
 * A cluster, home or target, for one run: each write checks that the run still holds its lease, so a handler that was frozen past the
 * lease writes nothing after its successor has begun. Checked at the call, and by the adapter once more right before it sends: what
 * the adapter waits for until then (discovery, the cluster's address, a token, a pause between tries) may outlast the lease.
 */
export function leasedCluster(cluster: HomeCluster, run: Pick<Run, "assertLease">): HomeCluster;
export function leasedCluster(cluster: TargetCluster, run: Pick<Run, "assertLease">): TargetCluster;
export function leasedCluster(
  cluster: HomeCluster | TargetCluster,
  run: Pick<Run, "assertLease">,
): HomeCluster | TargetCluster {
  const leased = guardedCluster(cluster, async (options, _signal, send) => {
    run.assertLease();
    const beforeSend = (): void => {
      options.beforeSend?.();
      run.assertLease();
    };
    return send({ ...options, beforeSend });
  });
  return cluster.role === "home" ? asHome(leased) : asTarget(leased);
}
