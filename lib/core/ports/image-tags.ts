import type { WorkKey } from "../work-key.ts";
import type { Fence } from "./fence.ts";

/** Facts about the stored tags that need no read. */
export interface DescribedTags {
  readonly revision: string;
  readonly count: number;
}

/** The tags of an image repository as its last scan has kept them, in descending order of their bytes. */
export interface StoredTags {
  readonly tags: readonly string[];
  readonly revision: string;
}

/**
 * The tags of each ImageRepository, stored by its own key: two objects for the same image have a set each, so that a tenant reads only what
 * its own login has listed. A reader sees the old or the new set, never a mix.
 */
export interface ImageTags {
  /**
   * Makes these the tags of the fence's object; an equal set is not written again.
   *
   * @throws {LeaseLost} if a successor holds the lease; the former tags then stay
   */
  put(stored: StoredTags, fence: Fence, signal: AbortSignal): Promise<void>;
  /** Undefined without a set, or where a part of it is lost: the next scan writes it again. */
  get(repository: WorkKey, signal: AbortSignal): Promise<StoredTags | undefined>;
  /** The same without the tags. */
  describe(repository: WorkKey, signal: AbortSignal): Promise<DescribedTags | undefined>;
  /** Removes the tags of the fence's object, which is gone. Throws {@link LeaseLost} as `put` does. */
  remove(fence: Fence, signal: AbortSignal): Promise<void>;
}
