import type { ObjectRef } from "../../../lib/core/object-ref.ts";
import type { Cluster, ImpersonatingCluster } from "../../../lib/core/ports/cluster.ts";
import type { RemoteClusters } from "../../../lib/core/ports/remote-clusters.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { untilAllowed, untilForbidden } from "./known-rights.ts";
import { configMapRef, namespaceNamed } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** A server that a kubeconfig can lead to. */
export interface NamedServer {
  readonly cluster: ImpersonatingCluster;
  /** With all rights. */
  readonly config: ClusterConfig;
  /** The same as this service account, in a way that ends with the test file. */
  readonly as: (namespace: string, account: string) => Promise<ClusterConfig>;
  /** The paths that it was asked for since the world began. */
  readonly asked: () => Promise<readonly string[]>;
}

export interface HomeAndOther {
  /** Its Kustomizations live at home, with these clusters for their kubeconfigs. */
  readonly world: World;
  readonly home: NamedServer;
  readonly other: NamedServer;
}

const rbac = "rbac.authorization.k8s.io/v1";

/** Puts a kubeconfig, or what stands in its place, into a Secret at home. */
export async function put(
  { cluster, namespace, signal }: World,
  data: Readonly<Record<string, string>>,
  secret = "remote",
): Promise<void> {
  const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: secret, namespace }, stringData: data };
  const ref = { group: "", version: "v1", kind: "Secret", namespace, name: secret };
  await cluster.delete(ref, { propagation: "Background" }, signal);
  await cluster.create(manifest, { manager: "test" }, signal);
}

/** Deletes that Secret. */
export async function away({ cluster, namespace, signal }: World, secret = "remote"): Promise<void> {
  const ref = { group: "", version: "v1", kind: "Secret", namespace, name: secret };
  await cluster.delete(ref, { propagation: "Background" }, signal);
}

/** The spec that names it. */
export const remote = { kubeConfig: { secretRef: { name: "remote" } } };

/** A world whose namespace is in the other cluster too. */
export async function inBoth(
  both: HomeAndOther,
): Promise<HomeAndOther & { there: (object: string) => ReturnType<Cluster["get"]> }> {
  const { world, other } = both;
  await other.cluster.create(namespaceNamed(world.namespace), { manager: "test" }, world.signal);
  const there = (object: string) => other.cluster.get(configMapRef(world.namespace, object), world.signal);
  return { ...both, there };
}

/** Lets an account work with the ConfigMaps of a namespace. */
export async function grant(
  cluster: ImpersonatingCluster,
  namespace: string,
  account: string,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { name: account, namespace };
  const rules = [
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
  ];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: account };
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  await cluster.create({ apiVersion: rbac, kind: "Role", metadata, rules }, { manager: "test" }, signal);
  const binding = { apiVersion: rbac, kind: "RoleBinding", metadata, roleRef, subjects };
  await cluster.create(binding, { manager: "test" }, signal);
  const own = cluster.as(`system:serviceaccount:${namespace}:${account}`);
  await untilAllowed(() => own.get(configMapRef(namespace, "probe"), signal));
}

const kubeSystem = { group: "", version: "v1", kind: "Namespace", namespace: "", name: "kube-system" };

/** Answers the binding that gives an account the right to read which cluster it is in. */
export async function grantNamespaces(
  cluster: ImpersonatingCluster,
  namespace: string,
  account: string,
  signal: AbortSignal,
): Promise<ObjectRef> {
  const metadata = { name: `${namespace}-${account}-reads-kube-system` };
  const rules = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get"] }];
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name };
  const options = { manager: "test", force: true };
  await cluster.apply({ apiVersion: rbac, kind: "ClusterRole", metadata, rules }, options, signal);
  await cluster.apply({ apiVersion: rbac, kind: "ClusterRoleBinding", metadata, subjects, roleRef }, options, signal);
  const own = cluster.as(`system:serviceaccount:${namespace}:${account}`);
  await untilAllowed(() => own.get(kubeSystem, signal));
  return { group: "rbac.authorization.k8s.io", kind: "ClusterRoleBinding", namespace: "", name: metadata.name };
}

/** Takes that right from it again. */
export async function revokeNamespaces(
  cluster: ImpersonatingCluster,
  namespace: string,
  account: string,
  binding: ObjectRef,
  signal: AbortSignal,
): Promise<void> {
  await cluster.delete({ ...binding, version: "v1" }, { propagation: "Background" }, signal);
  const own = cluster.as(`system:serviceaccount:${namespace}:${account}`);
  await untilForbidden(() => own.get(kubeSystem, signal));
}

export function closing(clusters: RemoteClusters & { close(): void }): RemoteClusters & Disposable {
  return { ...clusters, [Symbol.dispose]: () => clusters.close() };
}

/** A user whose token this is. */
export const withToken = (config: ClusterConfig, token: string): ClusterConfig => ({
  ...config,
  user: {
    name: "token",
    certificate: undefined,
    token: { kind: "token", token: new Secret(token) },
    impersonate: undefined,
  },
});
