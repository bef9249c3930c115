import type { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import type { StoredRevision } from "../../helm/release-store.ts";
import { fullReleaseName, snapshotOf, versionedChart } from "../../helm/snapshot.ts";
import { revise } from "./actions/revise.ts";
import type { ReleaseAttempt } from "./attempt/attempt.ts";
import { metadataOf, recordRelease } from "./release-events.ts";
import { summarise, withConditions } from "./release-status.ts";

/** Marks a revision as failed that another process has left pending, and returns the status that says so (reference helmrelease 8.2). */
export async function unlock(
  last: StoredRevision,
  status: HelmReleaseStatus,
  { ctx, store }: ReleaseAttempt,
): Promise<HelmReleaseStatus> {
  const { history = [] } = status;
  const known = history.find(({ version }) => version === last.version);
  const ociDigest = known?.ociDigest ?? "";
  const change = {
    status: "failed",
    description: `Release unlocked from stale '${last.observed.status}' state`,
  } as const;
  const { observed } = await revise({ ctx, store, ociDigest }, last, change, undefined);
  const snapshot = snapshotOf(observed, {
    ociDigest,
    ...(known?.action === undefined ? {} : { action: known.action }),
  });
  const next = known === undefined ? [snapshot, ...history] : history.map((one) => (one === known ? snapshot : one));
  const message = `Unlocked Helm release ${fullReleaseName(snapshot)} with chart ${versionedChart(snapshot)} in ${last.observed.status} state`;
  recordRelease(ctx, { type: "Normal", reason: "PendingRelease", message }, metadataOf(snapshot));
  const said = { type: "Released", status: "False", reason: "PendingRelease", message } as const;
  return summarise(withConditions({ ...status, history: next }, ctx, said), ctx);
}
