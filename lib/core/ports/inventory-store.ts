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

/** The owner of an inventory. Inventories of an earlier uid are archived and never pruned from. */
export interface InventoryOwner {
  readonly uid: string;
  readonly clusterUid: string;
  /** The generation of the spec that the run has read. It is saved with the entries and is not part of the identity. */
  readonly generation?: number;
}

/**
 * The objects that an owner has in its cluster. Stored in pages and swapped in one step: a reader sees the old or the new
 * inventory, never a mix. 20,000 entries must work.
 */
export interface InventoryStore {
  /** The entries in the order last saved; undefined if none were saved for this object, this uid and this cluster. */
  load(owner: InventoryOwner, fence: Fence, signal: AbortSignal): Promise<readonly InventoryEntry[] | undefined>;
  /** The owner's generation at the last save; undefined if it had none, or if nothing was saved. */
  savedUnder(owner: InventoryOwner, fence: Fence, signal: AbortSignal): Promise<number | undefined>;
  /** Replaces the whole inventory. Pages that did not change are not written again. */
  save(owner: InventoryOwner, entries: readonly InventoryEntry[], fence: Fence, signal: AbortSignal): Promise<void>;
  /** The uids of the clusters in which this owner has a saved inventory, even an empty one, in any order. */
  clusters(owner: Pick<InventoryOwner, "uid">, fence: Fence, signal: AbortSignal): Promise<readonly string[]>;
  /** Removes the inventory of an owner that is gone together with all its objects. */
  remove(owner: InventoryOwner, fence: Fence, signal: AbortSignal): Promise<void>;
}
