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
  /** Whether the source with this uid stored it. */
  recorded(source: WorkKey, sourceUid: string, digest: Digest, signal: AbortSignal): Promise<boolean>;
}
