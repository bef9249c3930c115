import type { Snapshot } from "../../api/kustomization-status.ts";
import { formatDuration } from "../../core/duration.ts";
import { kubernetesTime } from "../conditions.ts";

const maxSnapshots = 5;

/** One finished reconcile, as `status.history` counts it. */
export interface Finished {
  readonly digest: string;
  /** The reason of the Ready condition. */
  readonly status: string;
  readonly durationMs: number;
  readonly revision: string;
  readonly originRevision: string | undefined;
}

/**
 * `status.history` with this reconcile in front: counted up where digest and status were there before, else new. The
 * newest five are kept (reference 3.18).
 */
export function withSnapshot(
  history: readonly Snapshot[],
  { digest, status, durationMs, revision, originRevision }: Finished,
  now: number,
): readonly Snapshot[] {
  const before = history.find((entry) => entry.digest === digest && entry.lastReconciledStatus === status);
  const snapshot: Snapshot = {
    digest,
    firstReconciled: before?.firstReconciled ?? kubernetesTime(now),
    lastReconciled: kubernetesTime(now),
    lastReconciledDuration: formatDuration(durationMs),
    lastReconciledStatus: status,
    totalReconciliations: (before?.totalReconciliations ?? 0) + 1,
    metadata: { revision, ...(originRevision === undefined ? {} : { originRevision }) },
  };
  return [snapshot, ...history.filter((entry) => entry !== before)].slice(0, maxSnapshots);
}
