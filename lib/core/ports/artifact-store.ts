import type { Digest } from "../digest.ts";

/** Artifacts by content address, written once. */
export interface ArtifactStore {
  /** Stores the bytes under their digest; storing an artifact again changes nothing. Throws if the bytes do not hash to it. */
  put(digest: Digest, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** The bytes, verified against the digest; undefined if they are missing or no longer hash to it. */
  get(digest: Digest, signal: AbortSignal): Promise<Uint8Array | undefined>;
}
