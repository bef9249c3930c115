/** A query for external metrics. */
export interface ExternalMetric {
  readonly namespace: string;
  readonly name: string;
  /** Empty for all series. */
  readonly labelSelector: string;
  /** The user whose rights count, as Kubernetes names it. */
  readonly user?: string;
}

/** Kubernetes' API of external metrics (`external.metrics.k8s.io`), which another API server of the cluster answers. */
export interface ExternalMetrics {
  /**
   * The JSON of the list of values of a metric, read with the rights of `user`, or with our own without one. Throws an `ApiError` where the cluster answers an error or none, or the reason that `signal` was
   * aborted with.
   */
  values(metric: ExternalMetric, signal: AbortSignal): Promise<unknown>;
}
