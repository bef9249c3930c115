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
 * On a Canary: opens gates of the current run, if its value begins with `status.lastAppliedSpec` or with a time (RFC 3339) since the run
 * began. If a gate follows, only that gate opens: `TIME confirm-promotion`, `TIME confirm-traffic-increase WEIGHT`.
 */
export const promoteAnnotation = "sluice.dev/promote";

/** On a Canary: rolls the current run back, by the same rule. */
export const rollbackAnnotation = "sluice.dev/rollback";

/** On a Canary: `GRPCRoute` makes the Gateway API route its requests by a GRPCRoute instead of an HTTPRoute. */
export const routeKindAnnotation = "sluice.dev/route-kind";

/** On a route that replaces one of another kind: that kind, until the other route is deleted. */
export const replacesAnnotation = "sluice.dev/replaces";

/** On a Canary: the original state of the objects that it has taken over, as JSON. */
export const originalsAnnotation = "sluice.dev/originals";

/** Annotation of an ImagePolicy: the images that it must not choose, one a line. */
export const barredAnnotation = "sluice.dev/barred";

/** On an ImagePolicy, with the value `true`: images that a Kustomization of its namespace has found unhealthy are barred. */
export const barUnhealthyAnnotation = "sluice.dev/bar-unhealthy";

/** On a HelmRelease: forces one install or upgrade, if its value equals that of the request. */
export const forceAtAnnotation = "reconcile.fluxcd.io/forceAt";

/** On a HelmRelease: resets the failure counts, if its value equals that of the request. */
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
