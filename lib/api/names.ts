/** API groups, as Flux named them. */
export const kustomizeGroup = "kustomize.toolkit.fluxcd.io";
export const sourceGroup = "source.toolkit.fluxcd.io";

/** Keeps an object of ours until its flow has done what its deletion asks for. */
export const finalizer = "finalizers.fluxcd.io";

/** Any new value of it asks for a run; the flow copies the value it has handled to `status.lastHandledReconcileAt`. */
export const requestedAtAnnotation = "reconcile.fluxcd.io/requestedAt";

/** Field managers of what a flow writes to its own object: finalizers, conditions, status. */
export const kustomizationStatusManager = "gotk-kustomize-controller";
export const sourceStatusManager = "gotk-source-controller";
