/** API groups, as Flux and Flagger named them. */
export const kustomizeGroup = "kustomize.toolkit.fluxcd.io";
export const sourceGroup = "source.toolkit.fluxcd.io";
export const sourceExtensionsGroup = "source.extensions.fluxcd.io";
export const helmGroup = "helm.toolkit.fluxcd.io";
export const notificationGroup = "notification.toolkit.fluxcd.io";
export const imageGroup = "image.toolkit.fluxcd.io";
export const flaggerGroup = "flagger.app";

/** Keeps an object of ours until its flow has done the work of its deletion. */
export const finalizer = "finalizers.fluxcd.io";

/** The same of an ArtifactGenerator: Flux's source-watcher has its own. */
export const generatorFinalizer = "source.extensions.fluxcd.io/finalizer";

/** Keeps a Canary with `spec.revertOnDeletion` until its target serves again: Flagger's. */
export const canaryFinalizer = "finalizer.flagger.app";

/** A new value requests a run; the flow copies the handled value to `status.lastHandledReconcileAt`. */
export const requestedAtAnnotation = "reconcile.fluxcd.io/requestedAt";

/**
 * Of a Canary: opens gates of the run in flight, if its value begins with `status.lastAppliedSpec` or with a time (RFC 3339) since the run
 * began. A gate after that is the only one that it opens: `TIME confirm-promotion`, `TIME confirm-traffic-increase WEIGHT`.
 */
export const promoteAnnotation = "sluice.dev/promote";

/** Of a Canary: rolls the run in flight back, by the same rule. */
export const rollbackAnnotation = "sluice.dev/rollback";

/** Of a Canary: `GRPCRoute` has the Gateway API route its requests by such a route instead of an HTTPRoute. */
export const routeKindAnnotation = "sluice.dev/route-kind";

/** Of a route that was made in place of one of another kind: that kind, until the other route is deleted. */
export const replacesAnnotation = "sluice.dev/replaces";

/** Of a Canary: what the objects of others were that it has taken over, as JSON. */
export const originalsAnnotation = "sluice.dev/originals";

/** Annotation of an ImagePolicy: the images that it must not choose, one a line. */
export const barredAnnotation = "sluice.dev/barred";

/** Of a HelmRelease: forces one install or upgrade, if its value is that of the request. */
export const forceAtAnnotation = "reconcile.fluxcd.io/forceAt";

/** Of a HelmRelease: sets the counted failures to zero, if its value is that of the request. */
export const resetAtAnnotation = "reconcile.fluxcd.io/resetAt";

/** An owner as the labels on its objects name it. */
export interface LabelledName {
  readonly name: string;
  readonly namespace: string;
  /** The group of the two labels; that of Kustomizations by default. */
  readonly labelGroup?: string | undefined;
}

/** The labels that name the owner of an object. Prune deletes only objects with both. */
export function ownerLabels({ name, namespace, labelGroup = kustomizeGroup }: LabelledName): Record<string, string> {
  return { [`${labelGroup}/name`]: name, [`${labelGroup}/namespace`]: namespace };
}

/** The label selector for all objects of an owner. */
export function ownerSelector(owner: LabelledName): string {
  return Object.entries(ownerLabels(owner))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Whether a ServiceAccount can have this name: a DNS subdomain. */
export function isAccountName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
}
