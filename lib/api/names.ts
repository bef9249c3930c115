/** API groups, as Flux named them. */
export const kustomizeGroup = "kustomize.toolkit.fluxcd.io";
export const sourceGroup = "source.toolkit.fluxcd.io";

/** Keeps an object of ours until its flow has done what its deletion asks for. */
export const finalizer = "finalizers.fluxcd.io";

/** Any new value of it asks for a run; the flow copies the value it has handled to `status.lastHandledReconcileAt`. */
export const requestedAtAnnotation = "reconcile.fluxcd.io/requestedAt";

/** Field manager of what the flow writes to a Kustomization itself: finalizer, conditions, status. */
export const kustomizationStatusManager = "gotk-kustomize-controller";
