/** Kubernetes' API of external metrics (`external.metrics.k8s.io`), which another API server of the cluster answers. */
export interface ExternalMetrics {
  /**
   * The JSON of the list of values of a metric. Throws an `ApiError` where the cluster answers an error or none, or the reason that `signal` was
   * aborted with.
   */
  values(
    metric: { readonly namespace: string; readonly name: string; readonly labelSelector: string },
    signal: AbortSignal,
  ): Promise<unknown>;
}
