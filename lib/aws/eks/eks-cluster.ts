import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { orAborted } from "../../core/concurrency.ts";
import { messageOf } from "../../core/failure.ts";
import { ApiError, type Cluster, type ImpersonatingCluster } from "../../core/ports/cluster.ts";
import type { ExternalMetrics } from "../../core/ports/external-metrics.ts";
import { HttpError } from "../../core/ports/http.ts";
import type { ServiceProxy } from "../../core/ports/service-proxy.ts";
import type { ApiDeps } from "../../kube/api-client.ts";
import { connect } from "../../kube/connect.ts";
import type { AwsConnection } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import type { ClusterArn } from "./cluster-arn.ts";
import { type EksDeps, eksClient, eksClusterConfig } from "./eks-cluster-config.ts";

/** EKS throttles DescribeCluster for the whole account, so a cluster that is down is not described at each request. */
const describeEveryMs = 30_000;

interface Connected {
  readonly cluster: EksCluster;
  /** Calls and watches that are not yet answered. */
  pending: number;
  isStale: boolean;
}

/** A cluster of EKS, with its Services and its API of external metrics. */
export interface EksCluster extends ImpersonatingCluster {
  readonly services: ServiceProxy;
  readonly externalMetrics: ExternalMetrics;
  close(): void;
}

/**
 * A cluster of EKS, described and connected to at the first call. If it cannot be reached, its address or authority may have
 * changed, so the next call describes it again, for all concurrent callers. Calls under way at the former address go on there, and
 * its connections end with the last of them.
 */
export function eksCluster(arn: ClusterArn, connection: AwsConnection, deps: ApiDeps): EksCluster {
  const { clock } = deps;
  const { credentials = defaultProvider() } = connection;
  const client = eksClient({ ...connection, region: arn.region });
  const closing = new AbortController();
  /** The present connection, and former ones with calls under way. */
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
    // No caller's signal stops it: the other callers still wait for it.
    describing ??= describe().finally(() => {
      describing = undefined;
    });
    return orAborted(describing, signal);
  };
  /** Keeps the connections open for a call or a watch. It notes whether they reach the cluster. */
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
  return {
    ...clusterThrough(hold, (cluster) => cluster),
    async endpoint(signal) {
      using held = await hold(signal);
      return await held.cluster.endpoint?.(signal);
    },
    as: (user) => clusterThrough(hold, (cluster) => cluster.as(user)),
    accountTokens: {
      async issue(account, audiences, signal) {
        using held = await hold(signal);
        try {
          return await held.cluster.accountTokens.issue(account, audiences, signal);
        } catch (error) {
          throw held.failed(error);
        }
      },
    },
    externalMetrics: {
      async values(metric, signal) {
        using held = await hold(signal);
        try {
          return await held.cluster.externalMetrics.values(metric, signal);
        } catch (error) {
          throw held.failed(error);
        }
      },
    },
    services: {
      async send(service, request, signal) {
        using held = await hold(signal).catch((error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          throw new HttpError("unreachable", error.message, { cause: error });
        });
        try {
          return await held.cluster.services.send(service, request, signal);
        } catch (error) {
          // The cause says whether it was the API server that did not answer.
          if (error instanceof HttpError) held.failed(error.cause);
          throw error;
        }
      },
    },
    close() {
      closing.abort(new Error(`the connections to cluster ${arn.name} were closed`));
      for (const { cluster } of open) cluster.close();
      open.clear();
      client.destroy();
    },
  };
}

/** The port. Each call keeps the connections that exist when it begins. */
function clusterThrough(
  hold: (signal: AbortSignal) => Promise<Hold>,
  identityOf: (cluster: ImpersonatingCluster) => Cluster,
): Cluster {
  const through = async <Result>(work: (cluster: Cluster) => Promise<Result>, signal: AbortSignal): Promise<Result> => {
    using held = await hold(signal);
    try {
      const result = await work(identityOf(held.cluster));
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
        yield* identityOf(held.cluster).watch(query, signal);
      } catch (error) {
        throw held.failed(error);
      }
    },
  };
}

interface Hold extends Disposable {
  readonly cluster: EksCluster;
  readonly reached: () => void;
  /** Answers the same error. */
  readonly failed: (error: unknown) => unknown;
}

/** A cluster that EKS does not describe counts as unreachable: the run is tried again and never counts against its object. */
async function described(arn: ClusterArn, deps: EksDeps, signal: AbortSignal) {
  try {
    return await eksClusterConfig(arn, deps, signal);
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    throw new ApiError({ code: 0, reason: "Unreachable", message: messageOf(error) }, { cause: error });
  }
}
