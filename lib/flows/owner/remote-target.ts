import { z } from "zod";
import { digestOf } from "../../core/digest.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError, type Cluster } from "../../core/ports/cluster.ts";
import type { HomeCluster, TargetCluster } from "../../core/ports/home-and-target.ts";
import { isOutage, outageOf } from "../../core/ports/outage.ts";
import { KubeconfigFault, type RemoteCluster, type RemoteClusters } from "../../core/ports/remote-clusters.ts";
import type { TargetAccounts, TenantPlace } from "../owner/config-map-target.ts";
import { KubeConfigOf, type SecretReference } from "./kube-config-field.ts";
import { accountUser } from "./service-account.ts";
import { noClient, TargetFault } from "./target-fault.ts";

// The cluster that spec.kubeConfig names (reference 6.2 and 6.3).

/** The cluster of a Kustomization with `spec.kubeConfig`. */
export interface RemoteTarget {
  /** With the rights of the Kustomization's service account; each write passes the home's gate. */
  readonly cluster: TargetCluster;
  /** With the rights of the credential alone. */
  readonly unimpersonated: Cluster;
  /** The key of the cluster's inventories and claims: the home's uid if it is the home cluster, else a text that no server can choose. */
  readonly uid: string;
  /** Replaces the cluster's uid if a credential may not read that. An inventory may be saved under it. */
  readonly fallbackUid: string;
  /**
   * Whether inventories that are kept by this may be of the cluster all the same: the credential may not read the uid, and the same
   * authority vouches.
   */
  readonly mayBe: (clusterUid: string) => boolean;
}

export interface RemoteTargetDeps extends TargetAccounts {
  readonly remoteClusters: RemoteClusters;
  /** The cluster; each write to it passes the home's gate. */
  readonly gated: (cluster: Cluster) => TargetCluster;
  readonly defaultServiceAccount: string;
}

/**
 * Opens the cluster that `spec.kubeConfig` names. The Secret or ConfigMap is read at home with our own rights. The connection of the
 * previous run is used again if it is the same.
 *
 * @throws TargetFault if the reference cannot be used; an outage if the API server at home or there does not answer
 */
export async function openRemoteTarget(
  live: LiveObject,
  place: TenantPlace,
  deps: RemoteTargetDeps,
  signal: AbortSignal,
): Promise<RemoteTarget> {
  const { home } = place;
  const named = KubeConfigOf.safeParse(live["spec"]).data?.kubeConfig;
  if (named === undefined) throw new TargetFault("spec.kubeConfig cannot be read");
  const { namespace = "" } = live.metadata;
  const remote = await opened(
    named.secretRef === undefined
      ? byConfigMap(named.configMapRef.name, namespace, place, deps, signal)
      : bySecret(named.secretRef, namespace, place, deps.remoteClusters, signal),
  );
  const { uid, mayBe } = await identityOf(remote, home, signal);
  const user = accountUser(live, deps.defaultServiceAccount);
  const identified = (cluster: Cluster): Cluster => ({ ...cluster, uid: async () => uid });
  return {
    cluster: deps.gated(identified(user === undefined ? remote : remote.as(user))),
    unimpersonated: identified(remote),
    uid,
    fallbackUid: remote.fallbackUid,
    mayBe,
  };
}

async function opened(opening: Promise<RemoteCluster>): Promise<RemoteCluster> {
  try {
    return await opening;
  } catch (error) {
    throw error instanceof KubeconfigFault ? noClient(error.message, error) : error;
  }
}

async function byConfigMap(
  name: string,
  namespace: string,
  place: TenantPlace,
  deps: RemoteTargetDeps,
  signal: AbortSignal,
): Promise<RemoteCluster> {
  // Not at the start of a function, as the reader of kubeconfigs.
  const { readConfigMapTarget } = await import("../owner/config-map-target.ts");
  const target = await readConfigMapTarget(name, namespace, place, deps, signal);
  try {
    return await deps.remoteClusters.byEks(target, signal);
  } catch (error) {
    if (!(error instanceof KubeconfigFault)) throw error;
    throw new KubeconfigFault(`configmap '${namespace}/${name}': ${error.message}`, { cause: error.cause });
  }
}

const Data = z.record(z.string(), z.string()).catch({});

async function bySecret(
  { name, key }: SecretReference,
  namespace: string,
  { home, cluster }: TenantPlace,
  clusters: RemoteClusters,
  signal: AbortSignal,
): Promise<RemoteCluster> {
  const place = `${namespace}/${name}`;
  const unreadable = (why: string, cause?: unknown, isGone = false) =>
    noClient(`unable to read KubeConfig secret '${place}' error: ${why}`, cause, isGone);
  const misnamed = nameFault(name);
  if (misnamed !== undefined) throw unreadable(misnamed);
  const ref = { group: "", version: "v1", kind: "Secret", namespace, name };
  const secret = await home.get(ref, signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === "Forbidden") throw unreadable(error.message, error);
    throw outageOf(error, "ReconciliationFailed", `unable to read KubeConfig secret '${place}'`);
  });
  if (secret === undefined) throw unreadable(`secrets "${name}" not found`, undefined, true);
  const data = new Map(Object.entries(Data.parse(secret["data"])));
  const found = (key === "" ? ["value", "value.yaml"] : [key]).find((one) => data.has(one));
  if (found === undefined) {
    throw noClient(
      `KubeConfig secret '${place}' does not contain a '${key === "" ? "value" : key}' key with a kubeconfig`,
    );
  }
  const { uid, resourceVersion = "" } = secret.metadata;
  const bytes = Buffer.from(data.get(found) ?? "", "base64");
  const id = `${cluster} ${uid} ${found}`;
  return clusters.byKubeconfig({ secret: place, key: found, id, version: resourceVersion, bytes });
}

/** By connection: asked once for each, so a credential whose rights change keeps the earlier answer. */
const identities = new WeakMap<RemoteCluster, Identity>();

type Identity = Pick<RemoteTarget, "mayBe" | "uid">;

/**
 * The key of the cluster's inventories and claims. The server's own answer is never enough for that: the author of a kubeconfig
 * chooses the server, which can claim to be any cluster. So its uid counts together with the certificate authority behind it, and it
 * is the home cluster only if that is the authority of our own connection. A credential of one namespace may not read the uid.
 */
async function identityOf(remote: RemoteCluster, home: HomeCluster, signal: AbortSignal): Promise<Identity> {
  const known = identities.get(remote);
  if (known !== undefined) return known;
  const found = await verifiedIdentity(remote, home, signal);
  identities.set(remote, found);
  return found;
}

async function verifiedIdentity(remote: RemoteCluster, home: HomeCluster, signal: AbortSignal): Promise<Identity> {
  const told = await toldUid(remote, signal);
  const { endpoint, fallbackUid } = remote;
  const [there, here] = [await endpoint?.(signal), await home.endpoint?.(signal)];
  const known = (uid: string): Identity => ({ uid, mayBe: () => false });
  if (there?.authority === undefined) return known(fallbackUid);
  const { authority } = there;
  const hasOurAuthority = authority === here?.authority;
  if (told === undefined) {
    // One authority may sign for several clusters.
    const isHome = hasOurAuthority && (there.address === here.address || (await knowsOurAccount(remote, home, signal)));
    const homeUid = await home.uid(signal);
    if (isHome) return known(homeUid);
    const mayBe = (uid: string) => (hasOurAuthority && uid === homeUid) || uid.startsWith(ofAuthority(authority));
    return { uid: fallbackUid, mayBe };
  }
  const isHome = hasOurAuthority && told === (await home.uid(signal));
  return known(isHome ? told : clusterIdentity(authority, told));
}

/** A hash of digests, since the server may answer any text as its uid. It begins with `cluster:`, which no uid does. */
function clusterIdentity(authority: string, uid: string): string {
  return `${ofAuthority(authority)}${shortened(digestOf(uid))}`;
}

function ofAuthority(authority: string): string {
  return `cluster:${shortened(authority)}.`;
}

function shortened(digest: string): string {
  return digest.slice("sha256:".length, 39);
}

/** The server's uid; undefined if the credential may not ask. */
async function toldUid(remote: RemoteCluster, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await remote.uid(signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === "Forbidden") return undefined;
    // Waiting does not repair a credential, a certificate, an address that is not allowed, or a server that is not an API server.
    if (["Unauthorized", "NetworkRefused"].includes(error.reason) || error.code === 404 || !isOutage(error))
      throw new TargetFault(error.message, { cause: error });
    throw error;
  }
}

/** Whether the server takes us for a service account that lives at home. */
async function knowsOurAccount(remote: RemoteCluster, home: HomeCluster, signal: AbortSignal): Promise<boolean> {
  const user = await remote.whoAmI(signal).catch((error: unknown) => {
    if (error instanceof ApiError && !isOutage(error)) return undefined;
    throw error;
  });
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user?.name ?? "") ?? [];
  if (user?.uid === undefined || namespace === undefined || name === undefined) return false;
  const ref = { group: "", version: "v1", kind: "ServiceAccount", namespace, name };
  return (await home.get(ref, signal))?.metadata.uid === user.uid;
}
