import { z } from "zod";
import { hookEvents, type ReleaseRecord, type ReleaseStatus } from "../core/ports/helm-engine.ts";

/** The metadata of one stored revision. It is enough to see that nothing has changed. */
export interface RevisionHead {
  readonly version: number;
  /** Of the label. */
  readonly status: ReleaseStatus;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What our annotation on a release Secret says of the action that writes it: see {@link attemptAnnotation}. */
export const AttemptMark = z.object({
  /** The uid of the HelmRelease. */
  owner: z.string(),
  action: z.enum(["install", "rollback", "test", "uninstall", "upgrade"]),
  generation: z.number().int(),
  /** The digest of the applied manifest. */
  token: z.string(),
  /** The event whose hooks have begun: what the record says of their last run is of this action. */
  hooks: z.enum(hookEvents).exactOptional(),
  /** Set with the last write: the digest of the record as it was written. */
  ended: z.string().exactOptional(),
  /** Set with `ended`: digests of the artifact and of the values that the action used, for its snapshot. */
  attempted: z.object({ ociDigest: z.string(), configDigest: z.string() }).exactOptional(),
  /** Set with `ended` of a rollback: the revision that it went back to. */
  target: z.number().int().exactOptional(),
});
export type AttemptMark = Readonly<z.infer<typeof AttemptMark>>;

/** On the release Secrets that our actions write: who wrote the revision, and for what. Helm leaves annotations alone and drops them with its own writes. */
export const attemptAnnotation = "sluice.dev/attempt";

/** A revision as it is stored. */
export interface StoredRevision extends RevisionHead, ReleaseRecord {
  readonly mark: AttemptMark | undefined;
}

/**
 * The Secrets of one release in its storage namespace, `sh.helm.release.v1.NAME.vN`. Writes carry the field manager `helm-controller` and the
 * resourceVersion that was read.
 */
export interface ReleaseStore {
  /** All revisions, the latest first, by one metadata list. The list is kept, and sent again only after a write of this store. */
  heads(signal: AbortSignal): Promise<readonly RevisionHead[]>;
  /**
   * Undefined if it is gone.
   *
   * @param ociDigest that of the snapshot in question, for the digest of the record
   * @throws Failure if the Secret is damaged, of Helm 2, or larger than a record may be
   */
  read(version: number, ociDigest: string, signal: AbortSignal): Promise<StoredRevision | undefined>;
  /** @throws Failure if the record is too large for a Secret, before anything is sent; ApiError `AlreadyExists` */
  create(record: ReleaseRecord, mark: AttemptMark | undefined, signal: AbortSignal): Promise<StoredRevision>;
  /** Replaces a revision. @throws ApiError `Conflict` if another writer was there */
  update(
    stored: StoredRevision,
    record: ReleaseRecord,
    mark: AttemptMark | undefined,
    signal: AbortSignal,
  ): Promise<StoredRevision>;
  remove(head: RevisionHead, signal: AbortSignal): Promise<void>;
}
