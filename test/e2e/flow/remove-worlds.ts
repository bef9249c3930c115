import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";

/** Objects with finalizers of stories, which no flow reconciles any longer. */
const held = [
  { group: kustomizeGroup, version: "v1", kind: "Kustomization" },
  { group: "", version: "v1", kind: "ConfigMap" },
  { group: "", version: "v1", kind: "Secret" },
];

/** Deletes the namespaces with such a name, with all that stories have left in them. */
export async function removeWorlds(
  cluster: Cluster,
  isTheirs: (namespace: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const kind = { group: "", version: "v1", kind: "Namespace" };
  for (const { metadata } of await cluster.listMetadata(kind, signal)) {
    if (!isTheirs(metadata.name)) continue;
    for (const listed of held) await release({ ...listed, namespace: metadata.name }, cluster, signal);
    await cluster.delete({ ...kind, namespace: "", name: metadata.name }, { propagation: "Background" }, signal);
  }
}

async function release(
  listed: (typeof held)[number] & { readonly namespace: string },
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of await cluster.listMetadata(listed, signal)) {
    if ((metadata.finalizers ?? []).length === 0) continue;
    const body = { metadata: { finalizers: null } };
    await cluster.patch({ ...listed, name: metadata.name }, { type: "merge", body }, { manager: "test" }, signal);
  }
}
