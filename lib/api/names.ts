/** API groups, as Flux named them. */
export const kustomizeGroup = "kustomize.toolkit.fluxcd.io";
export const sourceGroup = "source.toolkit.fluxcd.io";
export const sourceExtensionsGroup = "source.extensions.fluxcd.io";
export const notificationGroup = "notification.toolkit.fluxcd.io";

/** Keeps an object of ours until its flow has done the work of its deletion. */
export const finalizer = "finalizers.fluxcd.io";

/** The same of an ArtifactGenerator: Flux's source-watcher has its own. */
export const generatorFinalizer = "source.extensions.fluxcd.io/finalizer";

/** A new value requests a run; the flow copies the handled value to `status.lastHandledReconcileAt`. */
export const requestedAtAnnotation = "reconcile.fluxcd.io/requestedAt";

/** The labels that name the owner of an object. Prune deletes only objects with both. */
export function ownerLabels({ name, namespace }: { name: string; namespace: string }): Record<string, string> {
  return { [`${kustomizeGroup}/name`]: name, [`${kustomizeGroup}/namespace`]: namespace };
}

/** The label selector for all objects of an owner. */
export function ownerSelector(owner: { name: string; namespace: string }): string {
  return Object.entries(ownerLabels(owner))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Whether a ServiceAccount can have this name: a DNS subdomain. */
export function isAccountName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);
}
