import type { Digest } from "../digest.ts";

/** Artifacts by content address, written once. */
export interface ArtifactStore {
  /** Stores the bytes under their digest; storing what is there already changes nothing. Throws where they do not hash to it. */
  put(digest: Digest, bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** The bytes, verified against the digest; undefined where they are not there or no longer hash to it. */
  get(digest: Digest, signal: AbortSignal): Promise<Uint8Array | undefined>;
}
