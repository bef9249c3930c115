import { z } from "zod";
import { assumedRole } from "../../lib/aws/assumed-role.ts";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { AwsFault } from "../../lib/aws/aws-fault.ts";
import { type ClusterArn, parseClusterArn } from "../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../lib/aws/eks/eks-cluster.ts";
import { type ClusterDescription, describeCluster, eksClient } from "../../lib/aws/eks/eks-cluster-config.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../../lib/core/ports/cluster.ts";
import { describeOwner, ownerOf } from "../../lib/gate/cluster-owner.ts";

/** The role that is assumed to reach a cluster of another account. */
export const RoleArn = z.string().regex(/^arn:aws[\w-]*:iam::[0-9]{12}:role\/.+$/, "must be the ARN of a role");

/** A cluster that EKS describes, not yet asked for anything. */
export interface DescribedCluster extends AsyncDisposable {
  readonly description: ClusterDescription;
  readonly cluster: Cluster;
}

/** Throws an `AwsFault`, whose reason is `missing` if there is no such cluster. */
export type OpenCluster = (arn: ClusterArn, role: string | undefined, signal: AbortSignal) => Promise<DescribedCluster>;

/** Opens clusters of EKS with the role of the function, or with one of another account that it assumes. */
export function openEksCluster(clock: Clock): OpenCluster {
  return async (arn, role, signal) => {
    const own: AwsConnection = { region: arn.region };
    const connection = role === undefined ? own : { ...own, credentials: assumedRole(role, own, clock) };
    const client = eksClient(connection);
    const description = await granted(() => describeCluster(client, arn, signal), clock, signal).finally(() =>
      client.destroy(),
    );
    const cluster = eksCluster(arn, connection, { clock, env: {} });
    return { description, cluster, [Symbol.asyncDispose]: async () => cluster.close() };
  };
}

/** Rights of a role that was just made, or that just got them, take a while until all of AWS goes by them. */
const grantedWithinMs = 60_000;

/** Asks again while AWS denies it. Throws the last denial. */
export async function granted<Result>(ask: () => Promise<Result>, clock: Clock, signal: AbortSignal): Promise<Result> {
  const giveUpAt = clock.monotonic() + grantedWithinMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isDenied = error instanceof AwsFault && error.reason === "denied";
      if (!isDenied || clock.monotonic() >= giveUpAt) throw error;
      await clock.sleep(admissionPauseMs, signal);
    }
  }
}

/** Undefined if there is no such cluster any longer. */
export async function openIfThere(
  arn: ClusterArn,
  role: string | undefined,
  open: OpenCluster,
  signal: AbortSignal,
): Promise<DescribedCluster | undefined> {
  try {
    return await open(arn, role, signal);
  } catch (error) {
    if (error instanceof AwsFault && error.reason === "missing") return undefined;
    throw error;
  }
}

/** Throws if the cluster belongs to another installation. */
export async function assertOwn(
  cluster: Pick<Cluster, "get" | "uid">,
  { cluster: id, installation }: { readonly cluster: string; readonly installation: string },
  signal: AbortSignal,
): Promise<void> {
  const owner = await ownerOf(cluster, signal);
  if (owner === undefined || owner.id === installation) return;
  throw new Error(
    `cluster ${id} belongs to another Sluice, ${describeOwner(owner)}; this is ${installation}. Remove the cluster from one of the two, or stop the other and run sluice take-over --installation ${installation}`,
  );
}

/** New access entries take a while until the cluster goes by them. */
const admittedWithinMs = 90_000;
const admissionPauseMs = 3_000;

/** Waits until the cluster knows us and lets us read. Throws the last refusal. */
export async function admitted(cluster: Pick<Cluster, "uid">, clock: Clock, signal: AbortSignal): Promise<void> {
  const giveUpAt = clock.monotonic() + admittedWithinMs;
  for (;;) {
    try {
      await cluster.uid(signal);
      return;
    } catch (error) {
      const isRefused = error instanceof ApiError && (error.code === 401 || error.code === 403);
      if (!isRefused || clock.monotonic() >= giveUpAt) throw error;
      await clock.sleep(admissionPauseMs, signal);
    }
  }
}

/** Says of an error of the API server what to do about it. */
export async function explained<Result>(
  id: string,
  description: ClusterDescription,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const mend = error instanceof ApiError ? mendOf(error, parseClusterArn(id), description) : undefined;
    if (mend === undefined || !(error instanceof ApiError)) throw error;
    throw new Error(`cluster ${id}: ${mend} (${error.message})`, { cause: error });
  }
}

function mendOf({ code, reason }: ApiError, { name, region }: ClusterArn, about: ClusterDescription) {
  if (code === 401 && !about.hasAccessEntries) {
    return `it knows roles only by its ConfigMap aws-auth. Let it have access entries as well: aws eks update-cluster-config --region ${region} --name ${name} --access-config authenticationMode=API_AND_CONFIG_MAP`;
  }
  if (code === 401) {
    return "it does not know the role of the definitions function. Create an access entry for it with the group sluice-definitions; SluiceCluster does so for a cluster of its stack's account and region";
  }
  if (code === 403) {
    return "the definitions function lacks a right there. Give its access entry the policy AmazonEKSClusterAdminPolicy, or apply the manifests of docs/cluster-rights.md for the group sluice-definitions";
  }
  if (reason === "Unreachable" && !about.isPublic) {
    return "its API server has only a private address, which the function cannot reach. Give the cluster a network with its VPC and subnets, and let their security group reach port 443 of the cluster's";
  }
  if (reason === "Unreachable") {
    return "its API server does not answer. If its public address is open to some addresses only (publicAccessCidrs), add those of the function, or give the cluster a network with its VPC";
  }
  return undefined;
}
