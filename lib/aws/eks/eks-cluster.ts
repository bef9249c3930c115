import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { messageOf } from "../../core/failure.ts";
import { orAborted } from "../../core/or-aborted.ts";
import { ApiError, type Cluster } from "../../core/ports/cluster.ts";
import type { ApiDeps } from "../../kube/api-client.ts";
import { connect } from "../../kube/connect.ts";
import type { AwsConnection } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import type { ClusterArn } from "./cluster-arn.ts";
import { eksClient } from "./eks-client.ts";
import { type EksDeps, eksClusterConfig } from "./eks-cluster-config.ts";

/** EKS throttles DescribeCluster for the whole account: a cluster that is down is not described at each request. */
const describeEveryMs = 30_000;

interface Connected {
  readonly cluster: Cluster & { close(): void };
  /** Calls and watches that it has not yet answered. */
  pending: number;
  isStale: boolean;
}

/**
 * A cluster of EKS, described and connected to when it is first asked for. One that cannot be reached may have another
 * address or authority by now, so the next call describes it anew, for all who call meanwhile. What is on its way at the
 * former address goes on there, and its connections end with the last of it.
 */
export function eksCluster(arn: ClusterArn, connection: AwsConnection, deps: ApiDeps): Cluster & { close(): void } {
  const { clock } = deps;
  const { credentials = defaultProvider() } = connection;
  const client = eksClient({ ...connection, region: arn.region });
  const closing = new AbortController();
  /** The present one, and former ones that have something to answer. */
  const open = new Set<Connected>();
  let present: Connected | undefined;
  let describing: Promise<Connected> | undefined;
  let describedAt = 0;

  const endIfDone = (former: Connected): void => {
    if (former === present || former.pending > 0) return;
    former.cluster.close();
    open.delete(former);
  };
  const describe = async (): Promise<Connected> => {
    describedAt = clock.monotonic();
    const config = await described(arn, { client, credentials, clock }, closing.signal);
    const former = present;
    present = { cluster: connect(config, deps), pending: 0, isStale: false };
    open.add(present);
    if (former !== undefined) endIfDone(former);
    return present;
  };
  const current = async (signal: AbortSignal): Promise<Connected> => {
    const isDue = present?.isStale === true && clock.monotonic() - describedAt >= describeEveryMs;
    if (present !== undefined && describing === undefined && !isDue) return present;
    // Nobody's signal ends it: whoever gives up leaves the others waiting for it.
    describing ??= describe().finally(() => {
      describing = undefined;
    });
    return orAborted(describing, signal);
  };
  /** A call's or a watch's hold on the connections, which notes whether they lead to the cluster. */
  const hold = async (signal: AbortSignal): Promise<Hold> => {
    const held = await current(signal);
    held.pending++;
    return {
      cluster: held.cluster,
      reached: () => {
        held.isStale = false;
      },
      failed: (error) => {
        if (error instanceof ApiError) held.isStale = error.reason === "Unreachable";
        return error;
      },
      [Symbol.dispose]() {
        held.pending--;
        endIfDone(held);
      },
    };
  };
  const through = async <Result>(work: (cluster: Cluster) => Promise<Result>, signal: AbortSignal): Promise<Result> => {
    using held = await hold(signal);
    try {
      const result = await work(held.cluster);
      held.reached();
      return result;
    } catch (error) {
      throw held.failed(error);
    }
  };
  return {
    uid: (signal) => through((cluster) => cluster.uid(signal), signal),
    resource: (query, signal) => through((cluster) => cluster.resource(query, signal), signal),
    served: (signal) => through((cluster) => cluster.served(signal), signal),
    get: (ref, signal) => through((cluster) => cluster.get(ref, signal), signal),
    list: (query, signal) => through((cluster) => cluster.list(query, signal), signal),
    listMetadata: (query, signal) => through((cluster) => cluster.listMetadata(query, signal), signal),
    apply: (manifest, options, signal) => through((cluster) => cluster.apply(manifest, options, signal), signal),
    create: (manifest, options, signal) => through((cluster) => cluster.create(manifest, options, signal), signal),
    patch: (ref, patch, options, signal) => through((cluster) => cluster.patch(ref, patch, options, signal), signal),
    delete: (ref, options, signal) => through((cluster) => cluster.delete(ref, options, signal), signal),
    async *watch(query, signal) {
      using held = await hold(signal);
      try {
        yield* held.cluster.watch(query, signal);
      } catch (error) {
        throw held.failed(error);
      }
    },
    close() {
      closing.abort(new Error(`the connections to cluster ${arn.name} were closed`));
      for (const { cluster } of open) cluster.close();
      open.clear();
      client.destroy();
    },
  };
}

interface Hold extends Disposable {
  readonly cluster: Cluster;
  readonly reached: () => void;
  /** Gives the error back as it came. */
  readonly failed: (error: unknown) => unknown;
}

/** Not to know where a cluster is, is not to reach it: such a run is tried again and never counts against its object. */
async function described(arn: ClusterArn, deps: EksDeps, signal: AbortSignal) {
  try {
    return await eksClusterConfig(arn, deps, signal);
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    throw new ApiError({ code: 0, reason: "Unreachable", message: messageOf(error) }, { cause: error });
  }
}
