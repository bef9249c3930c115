import { kindOf } from "../../lib/api/kinds/declaration.ts";
import { declaredKustomization } from "../../lib/api/kinds/kustomization.ts";
import { assumedRole } from "../../lib/aws/assumed-role.ts";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { parseClusterArn } from "../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../lib/aws/eks/eks-cluster.ts";
import { ownVersion } from "../../lib/core/own-version.ts";
import type { Cluster, ImpersonatingCluster } from "../../lib/core/ports/cluster.ts";
import type { ExternalMetrics } from "../../lib/core/ports/external-metrics.ts";
import { asHome, asTarget } from "../../lib/core/ports/home-and-target.ts";
import type { Log } from "../../lib/core/ports/log.ts";
import type { ServiceProxy } from "../../lib/core/ports/service-proxy.ts";
import { type OwnInstallation, ownerCheck } from "../../lib/gate/cluster-owner.ts";
import { gatedCluster } from "../../lib/gate/gated-cluster.ts";
import { type Clusters, servedClusters } from "../../lib/gate/served-clusters.ts";
import { writeGate } from "../../lib/gate/write-gate.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import type { Config } from "../settings/config.ts";
import { type ClusterEntry, roleOf } from "../settings/installation.ts";

type TableConfig = Pick<Config, "AWS_REGION" | "SLUICE_QUEUE_URLS" | "SLUICE_TABLE">;

interface EksClustersDeps {
  readonly connection: AwsConnection;
  readonly log: Log;
  /** Whose role enters clusters of other accounts. */
  readonly entersAs: Parameters<typeof roleOf>[1];
  /** Where webhooks come in; null: nowhere; absent: this function does not know. */
  readonly webhookUrl?: string | null;
  /** `eksCluster` outside tests. */
  readonly connect?: (
    ...args: Parameters<typeof eksCluster>
  ) => ImpersonatingCluster & { readonly services?: ServiceProxy; readonly externalMetrics?: ExternalMetrics };
}

/** The clusters of an installation by their ARNs, each connected to when it is first asked for; each write passes its gate. */
export function eksClusters(
  config: TableConfig,
  entries: readonly ClusterEntry[],
  { connection, log, entersAs, webhookUrl, connect = eksCluster }: EksClustersDeps,
): Clusters {
  const clock = systemClock;
  const self = { ...tableInstallation(config), ...(webhookUrl === undefined ? {} : { webhookUrl }) };
  return servedClusters(
    entries.map((entry) => ({
      id: entry.arn,
      open: () => {
        const role = roleOf(entry, entersAs);
        const credentials = role === undefined ? connection.credentials : assumedRole(role, connection, clock);
        const connected = connect(parseClusterArn(entry.arn), { ...connection, credentials }, { clock, env: {} });
        const isInstalled = (signal: AbortSignal) => servesKustomizations(connected, signal);
        const gate = writeGate([ownerCheck(self, { cluster: connected, clock, isInstalled })], { clock, log });
        const { externalMetrics, services } = connected;
        return {
          home: asHome(gatedCluster(connected, gate)),
          targetAs: (user) => asTarget(gatedCluster(connected.as(user), gate)),
          gated: (cluster) => asTarget(gatedCluster(cluster, gate)),
          gate,
          accountTokens: connected.accountTokens,
          ...(services === undefined ? {} : { services }),
          ...(externalMetrics === undefined ? {} : { externalMetrics }),
        };
      },
    })),
  );
}

/** Asks at each call: after sluice uninstall the cluster must not be taken again while the stack still lists it. */
async function servesKustomizations(cluster: Pick<Cluster, "served">, signal: AbortSignal): Promise<boolean> {
  const { resources } = await cluster.served(signal);
  return resources.some((served) => kindOf(served, [declaredKustomization]) !== undefined);
}

/**
 * The installation of a state table, the one part that no other installation shares: `<account>/<region>/<table>`. The account is that of
 * its queues, since a function does not know its own.
 */
export function tableInstallation({ AWS_REGION, SLUICE_QUEUE_URLS, SLUICE_TABLE }: TableConfig): OwnInstallation {
  const [url = ""] = Object.values(SLUICE_QUEUE_URLS);
  const [, account = ""] = new URL(url).pathname.split("/");
  const id = `${account}/${AWS_REGION}/${SLUICE_TABLE}`;
  return { id, version: ownVersion, takeOverCommand: `sluice take-over --installation ${id}` };
}
