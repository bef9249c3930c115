import type { Snapshot } from "../../api/kustomization-status.ts";
import { formatDuration } from "../../core/duration.ts";
import { keyedDigest } from "../../core/keyed-digest.ts";
import type { Secret } from "../../core/secret.ts";
import { kubernetesTime } from "../conditions.ts";

export const maxSnapshots = 5;

/** One finished reconcile, as `status.history` counts it. */
export interface Finished {
  /** Of what was built. */
  readonly digest: string;
  /** Where it is set, digests are shown under this key only: what was built carries data of a Secret. */
  readonly key: Secret | undefined;
  /** The reason of the Ready condition. */
  readonly status: string;
  readonly durationMs: number;
  readonly revision: string;
  readonly originRevision: string | undefined;
}

/**
 * `status.history` with this reconcile in front: counted up where digest and status were there before, else new. The
 * newest five are kept (reference 3.18). Flux shows the plain digest of everything; here that is so only where nothing in it
 * is of a Secret, since a value could be guessed by it.
 */
export function withSnapshot(
  former: readonly Snapshot[],
  { digest: built, key, status, durationMs, revision, originRevision }: Finished,
  now: number,
): readonly Snapshot[] {
  const digest = shownDigest(built, key);
  // Those that Flux or an earlier release has left, too: so the same build is counted on.
  const history = former.map((entry) => ({ ...entry, digest: shownDigest(entry.digest, key) }));
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

/** One that is keyed already stays. */
function shownDigest(digest: string, key: Secret | undefined): string {
  return key !== undefined && digest.startsWith("sha256:") ? keyedDigest(key, digest) : digest;
}
