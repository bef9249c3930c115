import { eksTargets, type ListedTarget } from "../../../lib/aws/eks/eks-targets.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { remoteClusters } from "../../../lib/kube/remote-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { eksStandIn } from "../../doubles/eks-stand-in.ts";
import { noKeyServices } from "../../doubles/no-key-services.ts";
import type { HomeAndOther } from "./kubeconfig-scene.ts";
import { configMap, configMapRef, namespaceNamed } from "./sample-manifests.ts";
import type { World } from "./world.ts";

export const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/target";
export const role = "arn:aws:iam::123456789012:role/tenant";
export const remote = { kubeConfig: { configMapRef: { name: "remote" } } };

export async function away({ cluster, namespace, signal }: World, kind = "ConfigMap", object = "remote") {
  const ref = { group: "", version: "v1", kind, namespace, name: object };
  await cluster.delete(ref, { propagation: "Background" }, signal);
}

/** A new ConfigMap that names a cluster. */
export async function put(world: World, data: Readonly<Record<string, string>>): Promise<void> {
  const { cluster, namespace, signal } = world;
  await away(world);
  const manifest = { ...configMap("remote"), metadata: { name: "remote", namespace }, data };
  await cluster.create(manifest, { manager: "test" }, signal);
}

/** The service account `enters`. */
export async function account(
  { cluster, namespace, signal }: World,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const manifest = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "enters", namespace, annotations } };
  await cluster.apply(manifest, { manager: "test", force: true }, signal);
}

/** A world that lists the cluster for its namespace, and whose service accounts get tokens. */
export async function eksScene(
  begin: () => Promise<HomeAndOther>,
  network = homeNetwork,
  entry: ListedTarget = { role: undefined },
) {
  const both = await begin();
  const { world, other } = both;
  const ending = new AsyncDisposableStack();
  const eks = ending.use(await eksStandIn(other.config));
  const audiences: string[] = [];
  /** What the installation lists for the namespace, by ARN. */
  const list = new Map([[arn, entry]]);
  const time = { aheadMs: 0 };
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + time.aheadMs };
  const connection = {
    ...{ region: "eu-central-1", endpoint: eks.endpoint },
    credentials: { accessKeyId: "OWN-KEY", secretAccessKey: "x" },
  };
  const clusters = remoteClusters({
    ...{ clock, network },
    eks: eksTargets({
      ...{ connection, clock },
      listed: ({ cluster, namespace }, named) =>
        cluster === "test" && namespace === world.namespace ? list.get(named) : undefined,
    }),
  });
  ending.defer(() => clusters.close());
  world.remoteClusters = clusters;
  world.sopsKeys = {
    ...noKeyServices,
    accountTokens: {
      issue: async ({ namespace, name: of }, wanted) => {
        audiences.push(`${namespace}/${of} for ${wanted.join()}`);
        return new Secret("account-token");
      },
    },
  };
  await other.cluster.create(namespaceNamed(world.namespace), { manager: "test" }, world.signal);
  await world.publish("v1", [configMap("a")]);
  const there = (object: string) => other.cluster.get(configMapRef(world.namespace, object), world.signal);
  return { ...both, eks, list, time, there, audiences, [Symbol.asyncDispose]: () => ending.disposeAsync() };
}

export const fault = (text: string) => `False ReconciliationFailed: ${text}`;

/** What is wrong with the ConfigMap, or with what it says. */
export const faultOf = ({ namespace }: World, text: string) => fault(`configmap '${namespace}/remote'${text}`);
