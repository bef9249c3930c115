import { z } from "zod";
import { isAccountName } from "../../api/names.ts";
import { cutText } from "../../core/cut-text.ts";
import type { FeatureGates } from "../../core/feature-gates.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { nameFault } from "../../core/object-ref.ts";
import type { AccountTokens } from "../../core/ports/account-tokens.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import { outageOf } from "../../core/ports/outage.ts";
import type { EksTarget } from "../../core/ports/remote-clusters.ts";
import { clusterArnPattern } from "../../core/work-key.ts";
import { cloudAccount, stsAudience } from "../../identity/cloud-account.ts";
import { noClient, type TargetFault } from "./target-fault.ts";

// spec.kubeConfig.configMapRef (reference 6.3).

/** Where a ConfigMap of a Kustomization is. */
export interface TenantPlace {
  readonly home: HomeCluster;
  /** The home cluster as in work keys. */
  readonly cluster: string;
}

/** Who may enter the clusters of ConfigMaps. */
export interface TargetAccounts {
  /** The home cluster's tokens; undefined if it issues none to us. */
  readonly accountTokens: AccountTokens | undefined;
  /** Flux's flag `default-kubeconfig-service-account`; empty if unset. */
  readonly defaultKubeconfigAccount: string;
  readonly gates: Pick<FeatureGates, "ObjectLevelWorkloadIdentity">;
}

/**
 * Reads the ConfigMap, and the service account that it names.
 *
 * @throws TargetFault in Flux's words if they cannot be used; an outage if the API server does not answer
 */
export async function readConfigMapTarget(
  name: string,
  namespace: string,
  { home, cluster }: TenantPlace,
  accounts: TargetAccounts,
  signal: AbortSignal,
): Promise<EksTarget> {
  const configMap = await configMapAt(name, namespace, home, signal);
  const data = new Map(Object.entries(Data.parse(configMap["data"])));
  const faultOf = (key: string, fault: string) => noClient(`configmap '${namespace}/${name}', key '${key}': ${fault}`);
  const arn = clusterArnIn(configMap);
  const account = await accountOf(data, { namespace, home, faultOf }, accounts, signal);
  const { uid, resourceVersion = "" } = configMap.metadata;
  const ca = data.get("ca.crt") ?? "";
  return {
    id: `${cluster} ${uid}`,
    version: JSON.stringify([resourceVersion, account?.name, account?.role]),
    arn,
    address: addressOf(data.get("address") ?? "", (fault) => faultOf("address", fault)),
    ca: ca === "" ? undefined : ca,
    tenant: { cluster, namespace },
    account,
  };
}

const Data = z.record(z.string(), z.string()).catch({});

/** The cluster that a ConfigMap names. Throws a {@link TargetFault} in Flux's words if it is not an EKS cluster. */
export function clusterArnIn(configMap: LiveObject): string {
  const { name, namespace = "" } = configMap.metadata;
  const data = new Map(Object.entries(Data.parse(configMap["data"])));
  const faultOf = (key: string, fault: string) => noClient(`configmap '${namespace}/${name}', key '${key}': ${fault}`);
  const provider = data.get("provider") ?? "";
  if (fluxOnlyProviders.has(provider)) {
    const mend = "write aws, whose clusters of EKS it is for, or use spec.kubeConfig.secretRef for any other cluster";
    throw faultOf("provider", `provider '${provider}' is not supported by Sluice: ${mend}`);
  }
  if (provider !== "aws") throw noClient(`provider '${shown(provider)}' not implemented`);
  const arn = data.get("cluster") ?? "";
  if (!fluxArnPattern.test(arn)) {
    const pattern = fluxArnPattern.source.replaceAll("\\/", "/");
    throw noClient(`invalid EKS cluster ARN: '${shown(arn)}'. must match ${pattern}`);
  }
  if (!clusterArnPattern.test(arn)) {
    const pattern = clusterArnPattern.source.replaceAll("\\/", "/");
    throw faultOf("cluster", `invalid EKS cluster ARN: '${shown(arn)}'. must match ${pattern}`);
  }
  return arn;
}

const fluxOnlyProviders: ReadonlySet<string> = new Set(["azure", "gcp", "generic"]);

/** Flux's pattern for the ARN of a cluster; EKS's is narrower. */
const fluxArnPattern = /^arn:aws[\w-]*:eks:([^:]{1,100}):[0-9]{1,30}:cluster\/(.{1,200})$/;

/** As much of a text as a message needs. */
function shown(text: string): string {
  return cutText(text, 200);
}

async function configMapAt(
  name: string,
  namespace: string,
  home: Pick<HomeCluster, "get">,
  signal: AbortSignal,
): Promise<LiveObject> {
  const failed = `failed to get configmap ${namespace}/${name}`;
  const misnamed = nameFault(name);
  if (misnamed !== undefined) throw noClient(`${failed}: ${misnamed}`);
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace, name };
  const found = await home.get(ref, signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === "Forbidden") throw noClient(`${failed}: ${error.message}`, error);
    throw outageOf(error, "ReconciliationFailed", failed);
  });
  if (found === undefined) throw noClient(`${failed}: configmaps "${name}" not found`, undefined, true);
  return found;
}

function addressOf(given: string, faultOf: (fault: string) => TargetFault): URL | undefined {
  if (given === "") return undefined;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `https://${given}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "") {
    throw faultOf("failed to parse Kubernetes API server address: write https://<host>, or https://<host>:<port>");
  }
  if (url.protocol !== "https:") {
    throw faultOf(`the Kubernetes API server address '${shown(url.origin)}' must use https scheme`);
  }
  return new URL(url.origin);
}

async function accountOf(
  data: ReadonlyMap<string, string>,
  {
    namespace,
    home,
    faultOf,
  }: {
    readonly namespace: string;
    readonly home: Pick<HomeCluster, "get">;
    readonly faultOf: (key: string, fault: string) => TargetFault;
  },
  { accountTokens, defaultKubeconfigAccount, gates }: TargetAccounts,
  signal: AbortSignal,
): Promise<EksTarget["account"]> {
  const given = data.get("serviceAccountName") ?? "";
  const name = given === "" ? defaultKubeconfigAccount : given;
  if (name === "") return undefined;
  if (!isAccountName(name)) {
    const fault = `must be the name of a service account of this namespace, not '${shown(name)}'`;
    throw faultOf("serviceAccountName", fault);
  }
  if (!gates.ObjectLevelWorkloadIdentity) {
    const mend = `it lets service account ${shown(name)} enter: enable the gate, or remove the key`;
    throw faultOf("serviceAccountName", `ObjectLevelWorkloadIdentity feature gate is not enabled: ${mend}`);
  }
  const listed = (data.get("audiences") ?? "").split("\n").map((line) => line.trim());
  const audiences = listed.filter((line) => line !== "");
  const account = cloudAccount({ namespace, name }, home, accountTokens, (message) => noClient(message));
  const role = await account.awsRole(signal);
  // The connection outlives this run, and asks for tokens later.
  const { signal: lasting } = new AbortController();
  const token = () => account.token(audiences.length === 0 ? [stsAudience] : audiences, lasting);
  return { kind: "account", namespace, name, role, token };
}
