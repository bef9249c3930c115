import { mapLimit } from "../../../core/concurrency.ts";
import { type Manifest, refOf } from "../../../core/manifest.ts";
import type { VersionedRef } from "../../../core/object-ref.ts";
import type { Resource } from "../../../core/ports/cluster.ts";
import type { ObservedRelease, RenderedObject } from "../../../core/ports/helm-engine.ts";
import type { TargetCluster } from "../../../core/ports/home-and-target.ts";
import { withHelmMarks } from "./helm-marks.ts";

/** An object of a release before it is sent: in its namespace, and with Helm's marks. */
export interface ReleaseObject {
  readonly ref: VersionedRef;
  readonly manifest: Manifest;
  /** Undefined where the cluster does not serve the kind. */
  readonly resource: Resource | undefined;
}

interface Placing {
  readonly deps: { readonly concurrency: number };
  readonly run: { readonly signal: AbortSignal };
  readonly target: Pick<TargetCluster, "resource">;
}

/** The objects of a revision's manifest; an object without a namespace is in the release's, unless its kind is cluster-scoped. */
export async function releaseObjects(
  { name, namespace, objects }: Pick<ObservedRelease, "name" | "namespace" | "objects">,
  { deps, run, target }: Placing,
): Promise<readonly ReleaseObject[]> {
  const release = { name, namespace };
  const place = async ({ manifest }: RenderedObject, stop: AbortSignal): Promise<ReleaseObject> => {
    const resource = await target.resource(refOf(manifest), stop);
    const { namespace: own = namespace, ...clusterWide } = manifest.metadata;
    const metadata = resource?.namespaced === false ? clusterWide : { ...clusterWide, namespace: own };
    const marked = withHelmMarks({ ...manifest, metadata }, release);
    return { ref: refOf(marked), manifest: marked, resource };
  };
  return mapLimit(objects, deps.concurrency, place, run.signal);
}
