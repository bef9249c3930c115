import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { type ClusterArn, parseClusterArn } from "../../lib/aws/eks/cluster-arn.ts";
import { eksCluster } from "../../lib/aws/eks/eks-cluster.ts";
import { ownVersion } from "../../lib/core/own-version.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import type { Log } from "../../lib/core/ports/log.ts";
import type { WriteGate } from "../../lib/core/ports/write-gate.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { type OwnInstallation, ownerCheck } from "../../lib/gate/cluster-owner.ts";
import { gatedCluster } from "../../lib/gate/gated-cluster.ts";
import { writeGate } from "../../lib/gate/write-gate.ts";
import type { Config } from "../config.ts";

type TableConfig = Pick<Config, "AWS_REGION" | "SLUICE_QUEUE_URL" | "SLUICE_TABLE">;

interface OwnClusterDeps {
  readonly connection: AwsConnection;
  readonly log: Log;
  /** `eksCluster` outside tests. */
  readonly connect?: (...args: Parameters<typeof eksCluster>) => Cluster;
}

/** The cluster that this installation looks after; each write to it passes the gate. */
export function ownCluster(
  config: TableConfig & Pick<Config, "SLUICE_CLUSTER">,
  { connection, log, connect = eksCluster }: OwnClusterDeps,
): { readonly arn: ClusterArn; readonly cluster: Cluster; readonly gate: WriteGate } {
  const clock = systemClock;
  const arn = parseClusterArn(config.SLUICE_CLUSTER);
  const connected = connect(arn, connection, { clock, env: {} });
  const gate = writeGate([ownerCheck(tableInstallation(config), { cluster: connected, clock })], { clock, log });
  return { arn, cluster: gatedCluster(connected, gate), gate };
}

/**
 * The installation of a state table, the one part that no other installation shares: `<account>/<region>/<table>`. The account is that of
 * its queue, since a function does not know its own.
 */
export function tableInstallation({ AWS_REGION, SLUICE_QUEUE_URL, SLUICE_TABLE }: TableConfig): OwnInstallation {
  const [, account = ""] = new URL(SLUICE_QUEUE_URL).pathname.split("/");
  const id = `${account}/${AWS_REGION}/${SLUICE_TABLE}`;
  return { id, version: ownVersion, takeOverCommand: `sluice take-over --installation ${id}` };
}
