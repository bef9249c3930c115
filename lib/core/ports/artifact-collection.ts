import type { Digest } from "../digest.ts";
import type { UnnamedSince } from "../unnamed-artifacts.ts";

/** An artifact in the store, whether or not a source names it. */
export interface StoredArtifact {
  readonly digest: Digest;
  /** When it was last stored, by the store's clock: milliseconds since 1970. */
  readonly storedAt: number;
}

/** The store of artifacts as the collector of unnamed ones sees it. */
export interface ArtifactCollection {
  /** All artifacts that are stored, in pages and in no order. Other objects in the store are left out. */
  list(signal: AbortSignal): AsyncIterable<readonly StoredArtifact[]>;
  /** Deletes an artifact, unless it was stored again since it was listed. Answers whether it did. */
  remove(artifact: StoredArtifact, signal: AbortSignal): Promise<boolean>;
  /** The record of the last collection; empty if there is none, or if it is unreadable. */
  unnamed(signal: AbortSignal): Promise<UnnamedSince>;
  /** Saves the record for the next collection, replacing the former one. */
  keepUnnamed(unnamed: UnnamedSince, signal: AbortSignal): Promise<void>;
}
