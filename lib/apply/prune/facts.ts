import type { Metadata } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Expected, OwnerNearby, OwnerState, Placed } from "../set/apply-set.ts";
import type { OwnerStyle } from "../set/owner-style.ts";

/** The facts of a prune, gathered before anything is decided. Plain data: the same facts give the same decisions. */
export interface PruneFacts {
  readonly owner: FormerOwner;
  /** The uid of the cluster that was read. */
  readonly clusterUid: string;
  /** `retain`: nothing is deleted (`prune: false`, `deletionPolicy: Orphan`). */
  readonly policy: "prune" | "retain";
  /** The owner itself is being deleted: it wants nothing, and has no later run. */
  readonly isFinalizing: boolean;
  /** What the owner wants now. */
  readonly wanted: readonly Placed[];
  /**
   * The owner's inventory entries that are not wanted, and retained ones that the deletion of a namespace or definition could cascade to.
   */
  readonly entries: readonly EntryFacts[];
  /** The objects that other owners are about to apply and have not claimed yet (ADR 0009). */
  readonly expected: readonly Expected[];
  /** The owners in the cluster, including this one, with objects that a prune candidate could cascade to (ADR 0007). */
  readonly owners: readonly OwnerNearby[];
}

/** Whose inventory is pruned. */
export interface FormerOwner {
  /** As the owner labels name it. */
  readonly name: string;
  readonly namespace: string;
  readonly labelGroup?: string | undefined;
  readonly style: OwnerStyle;
  /** The uid of the cluster of this inventory. */
  readonly clusterUid: string;
}

export interface EntryFacts {
  readonly entry: InventoryEntry;
  readonly ref: ObjectRef;
  readonly object: Seen;
  /** The other owners that claim it, in the ledger's order. */
  readonly claimants: readonly Claimant[];
}

/** The cluster's answer about an object. */
export type Seen =
  | { readonly kind: "there"; readonly version: string; readonly plural: string; readonly metadata: Metadata }
  | { readonly kind: "gone" }
  /** The cluster was not asked, since the object is not deleted in any case. */
  | { readonly kind: "unasked" }
  /** `message`: why the read failed, for people. `isForbidden`: the account may not read it. */
  | { readonly kind: "unknown"; readonly message: string; readonly isForbidden?: true };

/** Another owner with a claim in the ledger. */
export interface Claimant {
  readonly uid: string;
  /** `Kustomization/namespace/name`. */
  readonly owner: string;
  readonly state: OwnerState;
}
