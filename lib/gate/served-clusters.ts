import type { AccountTokens } from "../core/ports/account-tokens.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { ExternalMetrics } from "../core/ports/external-metrics.ts";
import type { HomeCluster, TargetCluster } from "../core/ports/home-and-target.ts";
import type { ServiceProxy } from "../core/ports/service-proxy.ts";
import type { WriteGate } from "../core/ports/write-gate.ts";

/** A cluster whose objects this process reconciles. */
export interface ServedCluster {
  /** As work keys name it. */
  readonly id: string;
  /** Each write to it passes the gate. */
  readonly home: HomeCluster;
  /** The same cluster with the rights of another user, through the same gate. */
  readonly targetAs: (user: string) => TargetCluster;
  /** Another cluster, which an object of this one names, through the same gate. */
  readonly gated: (cluster: Cluster) => TargetCluster;
  readonly gate: WriteGate;
  /** Absent where it issues none to us. */
  readonly accountTokens?: AccountTokens;
  /** Reaches its Services; absent where nothing is sent to them. */
  readonly services?: ServiceProxy;
  /** Absent where it is not asked. */
  readonly externalMetrics?: ExternalMetrics;
}

/** The clusters that this process reconciles. */
export interface Clusters {
  /** Undefined for a cluster that is not served here. The answer to one id is always the same. */
  get(id: string): ServedCluster | undefined;
  readonly ids: readonly string[];
}

/** Makes what stands behind a cluster when it is first asked for. Throws a `RangeError` for two entries of one id. */
export function servedClusters(
  entries: readonly { readonly id: string; readonly open: () => Omit<ServedCluster, "id"> }[],
): Clusters {
  const byId = new Map(entries.map(({ id, open }) => [id, onceFor({ id, open })]));
  if (byId.size < entries.length) throw new RangeError("two entries name the same cluster");
  return { ids: [...byId.keys()], get: (id) => byId.get(id)?.() };
}

function onceFor({ id, open }: { readonly id: string; readonly open: () => Omit<ServedCluster, "id"> }) {
  let opened: ServedCluster | undefined;
  return (): ServedCluster => (opened ??= { id, ...open() });
}
