import type { RemoteClusters } from "../../lib/core/ports/remote-clusters.ts";

/** For tests in which no object names another cluster. */
export const noRemoteClusters: RemoteClusters = {
  byKubeconfig: () => Promise.reject(new Error("the test has no other clusters")),
  byEks: () => Promise.reject(new Error("the test has no other clusters")),
};
