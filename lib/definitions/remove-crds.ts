import { type KindDeclaration, servedKind } from "../api/kinds/declaration.ts";
import { ApiError, type Cluster, type PartialObject } from "../core/ports/cluster.ts";
import { definitionRef, isOurs } from "./install-crds.ts";

/** The objects of these kinds in a cluster, `Kustomization/apps/web`. A kind that is not served has no objects. */
export async function managedObjects(
  cluster: Pick<Cluster, "listMetadata">,
  kinds: readonly KindDeclaration[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const kind of kinds.map(servedKind)) {
    const objects = await cluster.listMetadata(kind, signal).catch((error: unknown): readonly PartialObject[] => {
      if (error instanceof ApiError && error.reason === "NoMatch") return [];
      throw error;
    });
    found.push(...objects.map(({ metadata }) => `${kind.kind}/${metadata.namespace ?? ""}/${metadata.name}`));
  }
  return found;
}

/**
 * Deletes the definitions of these kinds that Sluice installed; those of Flux stay. Deleting a definition deletes all objects of its
 * kind, so the caller makes sure that there are none.
 */
export async function removeCrds(
  cluster: Pick<Cluster, "get" | "delete">,
  kinds: readonly KindDeclaration[],
  signal: AbortSignal,
): Promise<void> {
  for (const kind of kinds) {
    const live = await cluster.get(definitionRef(kind), signal);
    if (live === undefined || !isOurs(live)) continue;
    await cluster.delete(definitionRef(kind), { uid: live.metadata.uid, propagation: "Background" }, signal);
  }
}
