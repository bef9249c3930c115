import type { Follows, Subscription } from "../follows.ts";
import type { WorkKey } from "../work-key.ts";
import type { Fence } from "./fence.ts";

/** An object that subscribes to a topic, and the part of it that it follows; undefined: everything. */
export interface Follower {
  readonly key: WorkKey;
  readonly follows: Follows | undefined;
}

/**
 * Which objects are run when something happens to another. Topics are made by `topics.ts`, for example `src#<source key>` or
 * `repo#<registry>/<repository>`. A run subscribes before it reads the state that the topic announces, and subscribers are read
 * consistently, so that no change in between is missed.
 */
export interface Subscriptions {
  /**
   * Replaces all subscriptions of the fence's object by these; repeating it changes nothing. Throws {@link LeaseLost}
   * if that would change something and a successor holds the lease; the subscriptions then stay as they are.
   */
  subscribe(subscriptions: readonly Subscription[], fence: Fence, signal: AbortSignal): Promise<void>;
  /** The keys of all objects that subscribe to the topic, whatever of it they follow, in their order. */
  subscribers(topic: string, signal: AbortSignal): Promise<readonly WorkKey[]>;
  /** The same objects, with the part that each follows. */
  followers(topic: string, signal: AbortSignal): Promise<readonly Follower[]>;
}
