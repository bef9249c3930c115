import type { Cluster } from "../../lib/core/ports/cluster.ts";

/** Frees a shared cluster for the next installation that writes to it, as after `kubectl delete` by hand. */
export async function removeOwner(cluster: Pick<Cluster, "delete">, signal: AbortSignal): Promise<void> {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
  await cluster.delete(ref, { propagation: "Background" }, signal);
}
