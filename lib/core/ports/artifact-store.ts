import type { Digest } from "../digest.ts";

/** Artifacts by content address, written once. */
export interface ArtifactStore {
  /**
   * Stores the bytes under their digest. Storing an artifact again after {@link refreshAfterMs} makes it as new as one stored now, so that
   * no collector deletes it; it has no other effect. Throws if the bytes do not hash to the digest.
   */
  put(digest: Digest, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** The bytes, verified against the digest; undefined if they are missing or no longer hash to it. */
  get(digest: Digest, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /**
   * Whether {@link get} would return the bytes now. Reads them only if nothing else proves that they still hash to the digest. To use an
   * artifact, call {@link get}: it may be damaged or removed right after the answer.
   */
  has(digest: Digest, signal: AbortSignal): Promise<boolean>;
}

/** After this time an artifact that is stored again counts as stored now. */
export const refreshAfterMs = 60 * 60_000;
