import type { Clock } from "../../lib/core/ports/clock.ts";
import type { SweepLeases } from "../../lib/core/ports/sweep-leases.ts";

/** In memory: only the process that has the state folder's lock sweeps, and its leases end with it. */
export function memorySweepLeases(clock: Pick<Clock, "now">): SweepLeases {
  const leases = new Map<string, { readonly holder: string; readonly until: number }>();
  return {
    async take(cluster, holder, forMs, signal) {
      signal.throwIfAborted();
      const now = clock.now();
      const lease = leases.get(cluster);
      if (lease !== undefined && lease.holder !== holder && lease.until > now) return false;
      leases.set(cluster, { holder, until: now + forMs });
      return true;
    },
  };
}
