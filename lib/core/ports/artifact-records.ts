import type { Digest } from "../digest.ts";
import type { WorkKey } from "../work-key.ts";
import type { Fence } from "./fence.ts";

/**
 * Which artifacts a source's own flow has stored. Consumers fetch only these, so that whoever can write a source's status
 * cannot choose what is applied.
 */
export interface ArtifactRecords {
  /** Remembers that the source with this uid stored this artifact. */
  record(source: WorkKey, sourceUid: string, digest: Digest, fence: Fence, signal: AbortSignal): Promise<void>;
  /**
   * Of this source keeps only the records of this uid and these digests: what it has replaced, and what a namesake before
   * it stored, need not be kept. The artifacts themselves stay, since other sources may have the same.
   */
  retain(
    source: WorkKey,
    sourceUid: string,
    digests: readonly Digest[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void>;
  /** Whether the source with this uid stored it. A record that is not kept any more may still be remembered for a while. */
  recorded(source: WorkKey, sourceUid: string, digest: Digest, signal: AbortSignal): Promise<boolean>;
}
