import type { WorkKey } from "../work-key.ts";

/**
 * Who must hear of what: `src#<source key>`, `repo#<registry>/<repository>`, `dep#<key>`. Written before the state that it
 * announces is read, and read consistently, so that no change falls between.
 */
export interface Edges {
  /** Makes `whats` all that this key listens to; repeating it changes nothing. */
  listen(key: WorkKey, whats: readonly string[], signal: AbortSignal): Promise<void>;
  /** Everyone who listens to it, in the order of their keys. */
  listeners(what: string, signal: AbortSignal): Promise<readonly WorkKey[]>;
}
