import type { EKSClient } from "@aws-sdk/client-eks";
import type { Clock } from "../../core/ports/clock.ts";
import type { ClusterConfig } from "../../kube/cluster-config.ts";
import type { AwsCredentials } from "../aws-connection.ts";
import type { ClusterArn } from "./cluster-arn.ts";
import { describeCluster } from "./describe-cluster.ts";
import { eksToken } from "./eks-token.ts";

export interface EksDeps {
  /** For the cluster's region. */
  readonly client: EKSClient;
  /** Who we are to the cluster. */
  readonly credentials: AwsCredentials;
  readonly clock: Pick<Clock, "now">;
}

/**
 * How to reach a cluster of EKS: its endpoint and authority as EKS describes them now, and a token that is signed anew whenever
 * the client asks. What EKS says is not asked again: whoever keeps this has to ask again once the cluster cannot be reached.
 */
export async function eksClusterConfig(
  cluster: ClusterArn,
  { client, credentials, clock }: EksDeps,
  signal: AbortSignal,
): Promise<ClusterConfig> {
  const { server, ca } = await describeCluster(client, cluster, signal);
  return {
    name: cluster.name,
    server,
    namespace: undefined,
    tls: { ca, serverName: undefined, insecure: false },
    proxy: undefined,
    user: {
      name: "our AWS identity",
      certificate: undefined,
      token: { kind: "supplied", supply: () => eksToken(cluster, credentials, clock.now()) },
      impersonate: undefined,
    },
  };
}
