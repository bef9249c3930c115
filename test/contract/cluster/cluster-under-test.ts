import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { ApiClient } from "../../../lib/kube/api-client.ts";

/** A cluster to test, and how to hand it back. */
export interface ClusterUnderTest {
  readonly cluster: Cluster;
  /** Requests to the same API server, for what the port has no method for but Sluice's users and controllers do. */
  readonly api: ApiClient;
  /** The same server, on behalf of another user. */
  connectAs(user: string, groups: readonly string[]): ClusterUnderTest;
  close(): Promise<void>;
}

export type StartCluster = () => Promise<ClusterUnderTest>;
