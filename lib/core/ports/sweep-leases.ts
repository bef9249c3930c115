/**
 * Which process sweeps a cluster now, so that a running sweep is not started twice. A hint: it is measured by the wall clocks of
 * those who take it, and two sweeps at once would do no harm but list the cluster twice. It never decides who may write.
 */
export interface SweepLeases {
  /**
   * Takes the lease of a cluster for `forMs` from now, or renews it for the same holder. Answers whether the holder has it: not while
   * another's lasts. A lease that is not renewed expires.
   */
  take(cluster: string, holder: string, forMs: number, signal: AbortSignal): Promise<boolean>;
}
