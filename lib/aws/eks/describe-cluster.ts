import { DescribeClusterCommand, type EKSClient } from "@aws-sdk/client-eks";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import type { ClusterArn } from "./cluster-arn.ts";

/** Where a cluster's API server is, and the authority that its certificate is from. */
export interface ClusterEndpoint {
  readonly server: URL;
  /** PEM. */
  readonly ca: string;
}

/** Asks EKS, with a client for the cluster's region. Throws an {@link AwsFault} where the cluster is not there or not ready to be spoken to. */
export async function describeCluster(
  client: EKSClient,
  cluster: ClusterArn,
  signal: AbortSignal,
): Promise<ClusterEndpoint> {
  const { account, name, region } = cluster;
  const action = { name: "eks:DescribeCluster", resource: `cluster ${name}`, region, account };
  const command = new DescribeClusterCommand({ name });
  const answer = await callAws(action, (options) => client.send(command, options), signal);
  const { arn, certificateAuthority, endpoint, status = "unknown" } = answer.cluster ?? {};
  // No certificates at all would make the public authorities' good.
  const { data: ca = "" } = certificateAuthority ?? {};
  const said = (why: string): AwsFault => new AwsFault("refused", "", `${action.name} on ${action.resource}: ${why}`);
  // EKS looks in the account of the credentials, where another cluster may have the name.
  const found = /:eks:[a-z0-9-]+:([0-9]{12}):/.exec(arn ?? "")?.[1];
  if (found !== undefined && found !== account) {
    throw said(`the credentials are of account ${found}, the cluster is of account ${account}; assume a role there`);
  }
  const server = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (server === undefined || ca === "") {
    throw said(`it has no endpoint or no certificate authority, its status is ${status}; wait until it is ACTIVE`);
  }
  return { server, ca: Buffer.from(ca, "base64").toString() };
}
