import type { Digest } from "../digest.ts";
import type { WorkKey } from "../work-key.ts";
import type { Fence } from "./fence.ts";

/**
 * The artifacts that a source's own flow has stored. Consumers fetch only these, so that write access to a source's status does
 * not choose what is applied.
 */
export interface ArtifactRecords {
  /** Records that the source with this uid stored this artifact. */
  record(source: WorkKey, sourceUid: string, digest: Digest, fence: Fence, signal: AbortSignal): Promise<void>;
  /**
   * Removes all records of this source except those of this uid and these digests: replaced artifacts, and those of an earlier
   * object of the same name. The artifacts themselves stay, since other sources may have the same.
   */
  retain(
    source: WorkKey,
    sourceUid: string,
    digests: readonly Digest[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void>;
  /** Whether the source with this uid stored the artifact. A record that was removed may still be cached for a while. */
  recorded(source: WorkKey, sourceUid: string, digest: Digest, signal: AbortSignal): Promise<boolean>;
}

/** All records at once, as the collector of artifacts needs them. */
export interface RecordedArtifacts {
  /** The digests of all recorded artifacts, of every source and cluster, including clusters that are gone. */
  digests(signal: AbortSignal): Promise<ReadonlySet<Digest>>;
}
