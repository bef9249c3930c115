import type { ClusterLimits } from "../../lib/queue/cluster-limits.ts";

/** For tests that are about one cluster that answers: every run may begin, and every item be woken. */
export const openLimits: ClusterLimits = {
  enter: async () => ({
    kind: "admitted",
    place: { watch: (flow) => flow, [Symbol.asyncDispose]: async () => undefined },
  }),
  answers: async () => true,
  gateSaid: async () => undefined,
  probe: async (_, sweepCluster, signal) => void (await sweepCluster(signal)),
  budgets: async () => () => ({ atMost: Number.POSITIVE_INFINITY, perSecond: Number.POSITIVE_INFINITY }),
};
