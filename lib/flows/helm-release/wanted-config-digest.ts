import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import type { StoredRevision } from "../../helm/release-store.ts";
import { recordLimits } from "./actions/revise.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";

/**
 * The `configDigest` that the snapshot of the latest revision has to have. With `upgrade.preserveValues` it is the digest of the merged
 * values, as an upgrade would make them: Flux compares only the new values, and upgrades for ever if the former ones have more.
 */
export async function wantedConfigDigest(
  last: StoredRevision | undefined,
  { history = [] }: HelmReleaseStatus,
  { configDigest, ctx, values }: ReleaseAttempt,
): Promise<string> {
  const { deps, namespace, release, run } = ctx;
  const isKept = release.spec.upgrade?.preserveValues === true && last?.observed.status === "deployed";
  if (!isKept || history[0]?.configDigest === configDigest) return configDigest;
  const options = { tenant: { cluster: run.key.cluster, namespace }, values };
  return deps.helm.reusedDigest(last.bytes, options, recordLimits, run.signal);
}
