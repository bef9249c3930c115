import type { WorkKey } from "../work-key.ts";
import type { Fence } from "./fence.ts";

/**
 * Who must hear of what: `src#<source key>`, `repo#<registry>/<repository>`, `dep#<key>`, `claim#<key>`. Written before the state that it
 * announces is read, and read consistently, so that no change falls between.
 */
export interface Edges {
  /**
   * Makes `whats` all that the fence's object listens to; repeating it changes nothing. Throws {@link LeaseLost} where that
   * would change something and a successor has the lease: what it listens to stays.
   */
  listen(whats: readonly string[], fence: Fence, signal: AbortSignal): Promise<void>;
  /** Everyone who listens to it, in the order of their keys. */
  listeners(what: string, signal: AbortSignal): Promise<readonly WorkKey[]>;
}
