import type { CloudWatch } from "../lib/core/ports/cloud-watch.ts";
import type { DataKeys } from "../lib/core/ports/data-keys.ts";
import type { ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";
import type { FlowParts, Kind } from "../lib/flows/kinds/kind.ts";
import type { ServedCluster } from "../lib/gate/served-clusters.ts";
import { type CanaryServers, canaryServersOf } from "./canary-servers.ts";
import { type Flows, makeFlows } from "./make-flows.ts";
import { flowSettings, keySettings } from "./settings/flow-settings.ts";
import type { Settings } from "./settings/settings.ts";

/** What {@link composeFlows} adds by itself. */
type Composed =
  | keyof ReturnType<typeof flowSettings>
  | keyof CanaryServers
  | ("gated" | "home" | "jitter" | "reconciled" | "requests" | "sopsKeys" | "sources" | "targetAs");

/** The adapters that the flows of all clusters share. */
export interface FlowAdapters extends Omit<FlowParts, Composed> {
  /** Who opens data keys in KMS for a tenant. */
  readonly dataKeys: DataKeys;
  readonly settings: Settings;
  /** CloudWatch for the namespaces of a cluster; absent where no AWS identity is lent. */
  readonly cloudWatchOf?: (cluster: string) => CloudWatch;
}

/** The flows of these kinds, for the objects of one cluster each, as the settings of the installation say. */
export function composeFlows(
  kinds: readonly Kind[],
  { cloudWatchOf, dataKeys, settings, ...parts }: FlowAdapters,
): (cluster: ServedCluster, requests: ReconcileRequests) => Flows {
  const { clock, http } = parts;
  const given = { ...parts, ...flowSettings(settings) };
  const keys = { http, clock, dataKeys, ...keySettings(settings) };
  const namespaces = settings["canary-service-namespaces"];
  const serversOf = canaryServersOf({ http, clock, namespaces, cloudWatchOf });
  return (cluster, requests) => {
    const { home, targetAs, gated, accountTokens } = cluster;
    const own = { home, targetAs, gated, requests, ...serversOf(cluster) };
    return makeFlows(kinds, { ...given, ...own, sopsKeys: { ...keys, accountTokens } });
  };
}
