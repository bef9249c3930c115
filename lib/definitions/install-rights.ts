import { type LiveObject, refOf } from "../core/manifest.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import { installedHolders, rightsManifests } from "./cluster-rights.ts";
import { installManager, versionAnnotation } from "./install-crds.ts";

/**
 * The CloudFormation resource that installed the rights, so that the removal of a replaced resource does not remove its successor's
 * rights.
 */
export const resourceAnnotation = "sluice/installed-by";

const manifests = installedHolders.flatMap((holder) => rightsManifests(holder));

export interface RightsOwner {
  /** Unique among all that install rights: stack and logical id. */
  readonly resource: string;
  readonly version: string;
}

/** Gives the groups of the reconcile and the configuration function their rights. Can be repeated, and takes over those that an earlier resource installed. */
export async function installRights(
  cluster: Pick<Cluster, "apply">,
  { resource, version }: RightsOwner,
  signal: AbortSignal,
): Promise<void> {
  const annotations = { [versionAnnotation]: version, [resourceAnnotation]: resource };
  for (const { metadata, ...manifest } of manifests) {
    const annotated = { ...manifest, metadata: { ...metadata, annotations } };
    await cluster.apply(annotated, { manager: installManager, force: true }, signal);
  }
}

/** Whose rights the cluster has: this resource's, only those of others, or none. If one of several objects is left, it counts. */
export async function rightsIn(
  cluster: Pick<Cluster, "get">,
  resource: string,
  signal: AbortSignal,
): Promise<"own" | "of others" | "none"> {
  const present = await installed(cluster, signal);
  if (present.some((live) => isBy(live, resource))) return "own";
  return present.length > 0 ? "of others" : "none";
}

/** Takes the rights back that this resource installed, bindings first. Another installation's rights stay. */
export async function removeRights(
  cluster: Pick<Cluster, "get" | "delete">,
  resource: string,
  signal: AbortSignal,
): Promise<void> {
  for (const live of (await installed(cluster, signal)).toReversed()) {
    if (!isBy(live, resource)) continue;
    const { uid } = live.metadata;
    await cluster.delete(refOf(live), { uid, propagation: "Background" }, signal);
  }
}

async function installed(cluster: Pick<Cluster, "get">, signal: AbortSignal): Promise<readonly LiveObject[]> {
  const found: LiveObject[] = [];
  for (const manifest of manifests) {
    const live = await cluster.get(refOf(manifest), signal);
    if (live !== undefined) found.push(live);
  }
  return found;
}

function isBy({ metadata }: LiveObject, resource: string): boolean {
  return metadata.annotations?.[resourceAnnotation] === resource;
}
