import type { NetworkPolicy } from "../core/network/network-policy.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import {
  type EksTarget,
  KubeconfigFault,
  type RemoteCluster,
  type RemoteClusters,
} from "../core/ports/remote-clusters.ts";
import { remoteLimits } from "./answer-limits.ts";
import type { SentRequest } from "./api-client.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { type ConnectedCluster, connect } from "./connect.ts";
import { fallbackUid } from "./endpoint.ts";

/** Clusters whose connections and discovery are kept, the latest. Each has at most 32 connections, and few that are idle. */
export const maxRemoteClusters = 100;

/** A cluster of EKS is described again after this time: its address or its authority may have changed. */
const describeEveryMs = 600_000;

/**
 * Whether the cluster of EKS that a ConfigMap names may be entered, which is asked in each run, and then how. Both throw as
 * {@link RemoteClusters.byEks}.
 */
export type EksTargets = (target: EksTarget) => Promise<(signal: AbortSignal) => Promise<ClusterConfig>>;

interface RemoteClustersDeps {
  readonly clock: Clock;
  /** Judges the server and the proxy of every kubeconfig. */
  readonly network: NetworkPolicy;
  /** Absent where no cluster of EKS can be listed for a namespace. */
  readonly eks?: EksTargets;
  /** Called for every request that is sent to a cluster of a kubeconfig. */
  readonly observe?: ((request: SentRequest) => void) | undefined;
}

interface Kept {
  readonly version: string;
  readonly cluster: RemoteCluster;
  readonly retire: () => void;
  /** Monotonic; Infinity for what cannot change while the version is the same. */
  readonly freshUntil: number;
}

/**
 * Clusters of kubeconfigs in Secrets, and of EKS by ConfigMaps. After a change of the Secret or ConfigMap there are new connections; the
 * former ones end when they are idle.
 */
export function remoteClusters(deps: RemoteClustersDeps): RemoteClusters & { close(): void } {
  const { clock, eks, network, observe } = deps;
  /** By id; the one that was used last is the last. */
  const kept = new Map<string, Kept>();
  const drop = (id: string): void => {
    kept.get(id)?.retire();
    kept.delete(id);
  };
  /** The connection of this version, from now on the most recently used one. */
  const use = (id: string, version: string): Kept | undefined => {
    const known = kept.get(id);
    if (known?.version !== version) return undefined;
    kept.delete(id);
    kept.set(id, known);
    return known;
  };
  const keep = (id: string, version: string, { config, leftOut, freshUntil }: Opened): RemoteCluster => {
    const limits = remoteLimits;
    const connected = connect(config, {
      clock,
      env: {},
      network,
      limits,
      ...(observe === undefined ? {} : { observe }),
    });
    const cluster = { ...connectedRemote(connected, leftOut), fallbackUid: fallbackUid(config) };
    drop(id);
    kept.set(id, { version, cluster, retire: () => connected.retire(), freshUntil });
    const [oldest] = kept.keys();
    if (kept.size > maxRemoteClusters && oldest !== undefined) drop(oldest);
    return cluster;
  };
  return {
    async byKubeconfig(stored) {
      const { id, version } = stored;
      const known = use(id, version);
      if (known !== undefined) return known.cluster;
      // Not at the start of a function: few objects name another cluster.
      const { readStoredKubeconfig } = await import("./secret-kubeconfig.ts");
      return keep(id, version, { ...(await readStoredKubeconfig(stored)), freshUntil: Infinity });
    },
    async byEks(target, signal) {
      if (eks === undefined) throw new KubeconfigFault(noEks);
      const { id, version } = target;
      const describe = await eks(target);
      const known = use(id, version);
      if (known !== undefined && clock.monotonic() < known.freshUntil) return known.cluster;
      const config = await describe(signal);
      const freshUntil = clock.monotonic() + describeEveryMs;
      const still = use(id, version);
      if (still === undefined || still.cluster.fallbackUid !== fallbackUid(config))
        return keep(id, version, { config, leftOut: [], freshUntil });
      kept.set(id, { ...still, freshUntil });
      return still.cluster;
    },
    close() {
      for (const id of [...kept.keys()]) drop(id);
    },
  };
}

const noEks =
  "this installation lists no clusters of EKS for namespaces, which only one in AWS does: use spec.kubeConfig.secretRef";

interface Opened {
  readonly config: ClusterConfig;
  readonly leftOut: readonly string[];
  readonly freshUntil: number;
}

/** The cluster. Its refusals name the ignored fields of the kubeconfig, since these may be the reason. */
function connectedRemote(connected: ConnectedCluster, leftOut: readonly string[]): Omit<RemoteCluster, "fallbackUid"> {
  if (leftOut.length === 0) return connected;
  const hint = `; left out of the kubeconfig, since Sluice does not allow it there: ${leftOut.join(", ")}`;
  const uid: Cluster["uid"] = async (signal) => {
    try {
      return await connected.uid(signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, reason, message, causes } = error;
      throw new ApiError({ code, reason, message: `${message}${hint}`, causes }, { cause: error });
    }
  };
  return { ...connected, uid };
}
