import type { EngineLimits } from "../../../core/ports/engine.ts";
import type { RecordChange, ReleaseRecord } from "../../../core/ports/helm-engine.ts";
import type { AttemptMark, ReleaseStore, StoredRevision } from "../../../helm/release-store.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";

/** For a change of a record: that takes Helm's code a tenth of a second for a record of the greatest size. */
export const recordLimits: EngineLimits = { maxCpuMs: 20_000, maxWallMs: 60_000, maxOutputBytes: 64 * 2 ** 20 };

/** Whose revisions are written, and where. */
export interface RevisionWriter {
  readonly ctx: HelmReleaseContext;
  readonly store: ReleaseStore;
  /** The digest of the chart's artifact, for the snapshot; empty if there is none. */
  readonly ociDigest: string;
}

/**
 * Writes a change of a stored revision, with our annotation.
 *
 * @throws ApiError `Conflict` if another writer was there; HelmEngineError
 */
export async function revise(
  { ctx, store, ociDigest }: RevisionWriter,
  stored: StoredRevision,
  change: RecordChange,
  mark: AttemptMark | undefined,
): Promise<StoredRevision> {
  const record = await amended({ ctx, ociDigest }, stored, change);
  return store.update(stored, record, mark, ctx.run.signal);
}

/** The last write of an action to a revision: the annotation says what was written, so that the next run can tell whether the status knows. */
export async function finishRevision(
  { ctx, store, ociDigest }: RevisionWriter,
  stored: StoredRevision,
  change: RecordChange,
): Promise<StoredRevision> {
  const record = await amended({ ctx, ociDigest }, stored, change);
  const { mark } = stored;
  return store.update(stored, record, mark && { ...mark, ended: record.observed.digest }, ctx.run.signal);
}

async function amended(
  { ctx, ociDigest }: Pick<RevisionWriter, "ctx" | "ociDigest">,
  { bytes }: StoredRevision,
  change: RecordChange,
): Promise<ReleaseRecord> {
  const { deps, namespace, run } = ctx;
  const options = { tenant: { cluster: run.key.cluster, namespace }, ociDigest };
  return deps.helm.amend(bytes, change, options, recordLimits, run.signal);
}

/** A record that is not stored yet, with a change. */
export async function revised(
  { bytes }: ReleaseRecord,
  change: RecordChange,
  { ctx }: { readonly ctx: HelmReleaseContext },
  ociDigest: string,
): Promise<ReleaseRecord> {
  const { deps, namespace, run } = ctx;
  const options = { tenant: { cluster: run.key.cluster, namespace }, ociDigest };
  return deps.helm.amend(bytes, change, options, recordLimits, run.signal);
}
