import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { messageOf } from "../../core/failure.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { KeyIdentity } from "../../core/ports/data-keys.ts";
import { type EksTarget, KubeconfigFault } from "../../core/ports/remote-clusters.ts";
import type { Secret } from "../../core/secret.ts";
import type { ClusterConfig } from "../../kube/cluster-config.ts";
import { certificatesIn } from "../../kube/endpoint.ts";
import type { EksTargets } from "../../kube/remote-clusters.ts";
import { accountRole, assumedRole } from "../assumed-role.ts";
import type { AwsConnection, AwsCredentials } from "../aws-connection.ts";
import { AwsFault, type AwsFaultReason } from "../aws-fault.ts";
import { type ClusterArn, parseClusterArn } from "./cluster-arn.ts";
import { describeCluster, eksClient, eksToken } from "./eks-cluster-config.ts";

/** How our own identity enters a listed cluster: itself, or by a role of the cluster's account. */
export interface ListedTarget {
  readonly role: string | undefined;
}

export interface EksTargetsOptions {
  /** Of the installation. The region is that of each cluster. */
  readonly connection: AwsConnection;
  readonly clock: Pick<Clock, "now">;
  /** Undefined for a cluster that the installation does not list for objects of this namespace. */
  readonly listed: (tenant: EksTarget["tenant"], arn: string) => ListedTarget | undefined;
}

/**
 * Clusters of EKS that ConfigMaps name (reference 6.3), listed ones alone. A tenant's service account enters with its own role, and may say
 * where the API server is. Our own identity is used only at the address that EKS gives for the cluster: another server that gets our token
 * could use it to enter the cluster.
 */
export function eksTargets({ connection, clock, listed }: EksTargetsOptions): EksTargets {
  return async (target) => {
    const { arn, tenant } = target;
    const entry = listed(tenant, arn);
    if (entry === undefined) {
      const mend = "add it to the targets of this cluster in the installation";
      throw new KubeconfigFault(
        `this installation lists no EKS cluster '${arn}' for Kustomizations of namespace ${tenant.namespace}: ${mend}`,
      );
    }
    return (signal) => configOf(target, entry, { connection, clock }, signal);
  };
}

async function configOf(
  target: EksTarget,
  entry: ListedTarget,
  { connection, clock }: Pick<EksTargetsOptions, "clock" | "connection">,
  signal: AbortSignal,
): Promise<ClusterConfig> {
  const { account, address, arn, ca } = target;
  if (ca !== undefined) fingerprintsIn(ca);
  const cluster = parseClusterArn(arn);
  const regional = { ...connection, region: cluster.region };
  const credentials =
    account === undefined
      ? ownCredentials(entry, connection, clock)
      : accountRole(await withFirstToken(account), regional, clock);
  const isWhole = account !== undefined && address !== undefined && ca !== undefined;
  const found = isWhole
    ? { server: address, ca }
    : await describedTarget(cluster, target, { ...regional, credentials }, signal);
  return {
    name: cluster.name,
    server: found.server,
    namespace: undefined,
    tls: { ca: found.ca, serverName: undefined, insecure: false },
    proxy: undefined,
    user: {
      name: account === undefined ? "our AWS identity" : `service account ${account.namespace}/${account.name}`,
      certificate: undefined,
      token: { kind: "supplied", supply: () => eksToken(cluster, credentials, clock.now()) },
      impersonate: undefined,
    },
  };
}

/** Of a `ca.crt`. */
function fingerprintsIn(ca: string): readonly string[] {
  let fingerprints: readonly string[];
  try {
    fingerprints = certificatesIn(ca).map(({ fingerprint256 }) => fingerprint256);
  } catch (error) {
    throw new KubeconfigFault("ca.crt holds a certificate that cannot be read", { cause: error });
  }
  if (fingerprints.length === 0) throw new KubeconfigFault("ca.crt holds no certificate in PEM");
  return fingerprints;
}

function ownCredentials({ role }: ListedTarget, connection: AwsConnection, clock: Pick<Clock, "now">): AwsCredentials {
  return role === undefined ? (connection.credentials ?? defaultProvider()) : assumedRole(role, connection, clock);
}

/** Asks for the first token at once, so that a fault of the account is reported as such, and not as a fault of AWS. */
async function withFirstToken<Account extends Extract<KeyIdentity, { kind: "account" }>>(
  account: Account,
): Promise<Account> {
  let first: Secret | undefined = await account.token();
  const token = async (): Promise<Secret> => {
    const given = first ?? (await account.token());
    first = undefined;
    return given;
  };
  return { ...account, token };
}

async function describedTarget(
  cluster: ClusterArn,
  { account, address, arn, ca }: EksTarget,
  connection: AwsConnection,
  signal: AbortSignal,
): Promise<{ readonly server: URL; readonly ca: string }> {
  const client = eksClient(connection);
  try {
    const said = await describeCluster(client, cluster, signal);
    if (address !== undefined && address.origin !== said.server.origin) {
      throw new KubeconfigFault(
        `EKS endpoint '${said.server.origin}' does not match specified address: '${address.origin}'`,
      );
    }
    if (ca === undefined) return said;
    const known = new Set(certificatesIn(said.ca).map(({ fingerprint256 }) => fingerprint256));
    if (account === undefined && !fingerprintsIn(ca).every((one) => known.has(one))) {
      throw new KubeconfigFault(
        `ca.crt is not the certificate authority of EKS cluster '${arn}', with which Sluice enters it: remove ca.crt`,
      );
    }
    return { server: said.server, ca };
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    const message = `failed to describe EKS cluster '${arn}': ${messageOf(error)}`;
    if (passing.has(error.reason)) throw new ApiError({ code: 0, reason: "Unreachable", message }, { cause: error });
    throw new KubeconfigFault(message, { cause: error });
  } finally {
    client.destroy();
  }
}

/** Faults of AWS that may pass by themselves. */
const passing: ReadonlySet<AwsFaultReason> = new Set([
  "clock",
  "throttled",
  "timeout",
  "unavailable",
  "unreachable",
] as const);
