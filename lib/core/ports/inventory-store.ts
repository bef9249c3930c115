import type { Fence } from "./fence.ts";

/** One object that a Kustomization (or another owner) has in the cluster, or is about to have. */
export interface InventoryEntry {
  /** Flux's id: `<namespace>_<name>_<group>_<kind>`. */
  readonly id: string;
  /** The version without the group, as Flux's `v`. */
  readonly version: string;
  /** The live object's uid once it was applied; absent while only planned or adopted from a status. */
  readonly uid?: string;
  /** Digest of the desired object that was last applied. */
  readonly desired?: string;
  /** Digest of our managed-fields entry as the last apply returned it. */
  readonly fingerprint?: string;
  readonly state: "planned" | "live" | "deleting" | "retained";
}

/** Whose inventory it is: another uid than the present one is archived, never pruned from. */
export interface InventoryOwner {
  readonly uid: string;
  readonly clusterUid: string;
  /** Of its spec as the run has it: kept with what is saved, and no part of the identity. */
  readonly generation?: number;
}

/**
 * What an owner has in its cluster. Paged inside, swapped in one step: a reader sees the old or the new inventory, never a mix.
 * 20,000 entries must work.
 */
export interface InventoryStore {
  /** Undefined where nothing was saved for this object, this uid of it and this cluster. In the order last saved. */
  load(owner: InventoryOwner, fence: Fence, signal: AbortSignal): Promise<readonly InventoryEntry[] | undefined>;
  /** The owner's generation at the last save; undefined where it said none, or where nothing was saved. */
  savedUnder(owner: InventoryOwner, fence: Fence, signal: AbortSignal): Promise<number | undefined>;
  /** Replaces the whole inventory. Pages that did not change are not written again. */
  save(owner: InventoryOwner, entries: readonly InventoryEntry[], fence: Fence, signal: AbortSignal): Promise<void>;
  /** Forgets it: the owner is gone and so is everything it had. */
  remove(owner: InventoryOwner, fence: Fence, signal: AbortSignal): Promise<void>;
}
