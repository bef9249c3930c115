import type { ImpersonatingCluster } from "./cluster.ts";
import type { KeyIdentity } from "./data-keys.ts";

/** The user that the API server sees. */
export interface OwnUser {
  readonly name: string;
  /** The uid of the service account's object; undefined for other users. */
  readonly uid: string | undefined;
}

/** A cluster that an object names, with its credential. Its connection is kept for the next run. */
export interface RemoteCluster extends ImpersonatingCluster {
  /**
   * Stands for the cluster's uid where the credential may not read that: derived from the certificate authority and the address. It
   * begins with `unread:`, which no uid does.
   */
  readonly fallbackUid: string;
  /** Asks the API server (`SelfSubjectReview`); undefined if it does not know such a question. */
  whoAmI(signal: AbortSignal): Promise<OwnUser | undefined>;
}

/** A kubeconfig that a Secret holds. */
export interface StoredKubeconfig {
  /** The Secret as messages name it: `namespace/name`. */
  readonly secret: string;
  /** The key of the Secret that holds it, for messages. */
  readonly key: string;
  /** Identifies this key of this Secret: its cluster, its uid, and the key. */
  readonly id: string;
  /** Another text for another content: the Secret's resourceVersion. */
  readonly version: string;
  readonly bytes: Uint8Array;
}

/** A cluster of EKS that a ConfigMap names, for objects of one namespace. */
export interface EksTarget {
  /** Identifies this ConfigMap: its cluster and its uid. */
  readonly id: string;
  /** Another text for another content or identity. */
  readonly version: string;
  /** `arn:<partition>:eks:<region>:<account>:cluster/<name>` */
  readonly arn: string;
  /** The address of the API server, if the ConfigMap gives one; https, without a path. */
  readonly address: URL | undefined;
  /** PEM, if the ConfigMap gives one. */
  readonly ca: string | undefined;
  /** The cluster that the ConfigMap is in, as in work keys, and its namespace. */
  readonly tenant: { readonly cluster: string; readonly namespace: string };
  /** Who enters the cluster: a service account of the tenant; undefined: Sluice itself. */
  readonly account: Extract<KeyIdentity, { kind: "account" }> | undefined;
}

/** Opens clusters that objects name, and keeps a bounded number of connections. */
export interface RemoteClusters {
  /** Throws a {@link KubeconfigFault}. Asks the cluster for nothing. */
  byKubeconfig(kubeconfig: StoredKubeconfig): Promise<RemoteCluster>;
  /**
   * Throws a {@link KubeconfigFault}, also for a cluster that the installation does not list for the namespace, or an `ApiError`
   * `Unreachable` if AWS does not answer. Asks the cluster for nothing.
   */
  byEks(target: EksTarget, signal: AbortSignal): Promise<RemoteCluster>;
}

/** The reference to another cluster cannot be used. The message quotes no value of a kubeconfig. */
export class KubeconfigFault extends Error {
  override readonly name = "KubeconfigFault";
}
