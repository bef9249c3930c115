import { expect } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { World } from "./world.ts";

/** Spec of a Kustomization whose objects go where their manifests say. */
export const elsewhere = { targetNamespace: undefined };

/** What takes things along is gone only when they are. */

/** Says that pruning the subject would take along these, as a Kustomization says it. */
export const pruneRefused = (subject: string, wanted: string): string =>
  `${subject} prune refused: it would also delete objects that are still wanted: ${wanted}; ` +
  `put it back, take that out too, or annotate it with ${kustomizeGroup}/prune: disabled to keep it`;

/** Runs it until a stage that needs a moment is over: how many runs that takes depends on how quick the server is. */
export async function settle(world: World, name: string): Promise<void> {
  const ready = async (): Promise<string> => {
    if (!(await world.ready(name)).startsWith("True")) await world.run(name);
    return world.ready(name);
  };
  await expect.poll(ready).toMatch(/^True/);
}

export function clusterWide(world: World, kind: "CustomResourceDefinition" | "Namespace", name: string) {
  const group = kind === "Namespace" ? "" : "apiextensions.k8s.io";
  return world.cluster.get({ group, version: "v1", kind, namespace: "", name }, world.signal);
}

/** Is this namespace gone, or being deleted? */
export async function isGoing(world: World, namespace: string): Promise<boolean> {
  const live = await clusterWide(world, "Namespace", namespace);
  return live === undefined || live.metadata.deletionTimestamp !== undefined;
}
