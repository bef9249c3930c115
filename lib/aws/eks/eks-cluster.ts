import { messageOf } from "../../core/failure.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { ApiError, type Cluster } from "../../core/ports/cluster.ts";
import type { ApiDeps } from "../../kube/api-client.ts";
import { connect } from "../../kube/connect.ts";
import type { AwsConnection } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import type { ClusterArn } from "./cluster-arn.ts";
import { eksClusterConfig } from "./eks-cluster-config.ts";

/** EKS throttles DescribeCluster for the whole account: a cluster that is down is not described at each request. */
const describeEveryMs = 30_000;

interface Connected {
  readonly cluster: Cluster & { close(): void };
  readonly at: number;
}

/**
 * A cluster of EKS, described and connected to when it is first asked for. One that cannot be reached may have another
 * address or authority by now, so the next call describes it anew.
 */
export function eksCluster(arn: ClusterArn, connection: AwsConnection, deps: ApiDeps): Cluster & { close(): void } {
  const { clock } = deps;
  let connected: Connected | undefined;
  let isStale = false;

  const current = async (signal: AbortSignal): Promise<Connected> => {
    if (connected !== undefined && !(isStale && clock.monotonic() - connected.at >= describeEveryMs)) return connected;
    const config = await described(arn, connection, clock, signal);
    connected?.cluster.close();
    isStale = false;
    connected = { cluster: connect(config, deps), at: clock.monotonic() };
    return connected;
  };
  const through = async <Result>(work: (cluster: Cluster) => Promise<Result>, signal: AbortSignal): Promise<Result> => {
    const { cluster } = await current(signal);
    try {
      return await work(cluster);
    } catch (error) {
      if (error instanceof ApiError && error.reason === "Unreachable") isStale = true;
      throw error;
    }
  };
  return {
    uid: (signal) => through((cluster) => cluster.uid(signal), signal),
    resource: (query, signal) => through((cluster) => cluster.resource(query, signal), signal),
    get: (ref, signal) => through((cluster) => cluster.get(ref, signal), signal),
    list: (query, signal) => through((cluster) => cluster.list(query, signal), signal),
    listMetadata: (query, signal) => through((cluster) => cluster.listMetadata(query, signal), signal),
    apply: (manifest, options, signal) => through((cluster) => cluster.apply(manifest, options, signal), signal),
    create: (manifest, options, signal) => through((cluster) => cluster.create(manifest, options, signal), signal),
    patch: (ref, patch, options, signal) => through((cluster) => cluster.patch(ref, patch, options, signal), signal),
    delete: (ref, options, signal) => through((cluster) => cluster.delete(ref, options, signal), signal),
    async *watch(query, signal) {
      const { cluster } = await current(signal);
      yield* cluster.watch(query, signal);
    },
    close() {
      connected?.cluster.close();
    },
  };
}

/** Not to know where a cluster is, is not to reach it: such a run is tried again and never counts against its object. */
async function described(arn: ClusterArn, connection: AwsConnection, clock: Clock, signal: AbortSignal) {
  try {
    return await eksClusterConfig(arn, connection, clock, signal);
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    throw new ApiError({ code: 0, reason: "Unreachable", message: messageOf(error) }, { cause: error });
  }
}
