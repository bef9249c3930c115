import { subject } from "../../../lib/core/object-ref.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";

const kinds = [
  { group: "", version: "v1", kind: "ConfigMap" },
  { group: "", version: "v1", kind: "Service" },
  { group: "", version: "v1", kind: "Pod" },
  { group: "apps", version: "v1", kind: "Deployment" },
  { group: "apps", version: "v1", kind: "ReplicaSet" },
  { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler" },
  { group: "policy", version: "v1", kind: "PodDisruptionBudget" },
  { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" },
  { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" },
] as const;

/** Every object of namespace `default` that the demo, or what it starts, could have made; events aside, which end by themselves. */
export async function whatIsThere(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const lists = kinds.map(async (kind) => {
    // Sluice brings its kinds itself, so before its first start they are not served.
    if ((await cluster.resource(kind, signal)) === undefined) return [];
    const found = await cluster.listMetadata({ ...kind, namespace: "default" }, signal);
    return found.map(({ metadata: { name } }) => subject({ kind: kind.kind, namespace: "default", name }));
  });
  return (await Promise.all(lists)).flat().toSorted();
}
