import type { Metadata } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";

/** All that a prune goes by, gathered before anything is decided. A value: the same facts have the same answer. */
export interface PruneFacts {
  readonly owner: FormerOwner;
  /** The uid of the cluster that was looked at. */
  readonly clusterUid: string;
  /** `retain`: nothing is deleted (`prune: false`, `deletionPolicy: Orphan`). */
  readonly policy: "prune" | "retain";
  /** The owner itself is being deleted: it wants nothing, and has no later run. */
  readonly isLeaving: boolean;
  /** What the owner wants now. */
  readonly wanted: readonly Placed[];
  /** Of the owner's inventory: what is not wanted, and what was retained in what a namespace or definition would take along. */
  readonly entries: readonly EntryFacts[];
  /** What other owners are about to have: no claim of theirs says so yet (ADR 0009). */
  readonly expected: readonly Expected[];
  /** Owners of the cluster, this one too, as far as something of theirs may be taken along (ADR 0007). */
  readonly owners: readonly OwnerNearby[];
}

/** Whose inventory is pruned. */
export interface FormerOwner {
  /** As the owner labels name it. */
  readonly name: string;
  readonly namespace: string;
  /** Of the cluster that the inventory is of. */
  readonly clusterUid: string;
}

/** An object and what the cluster calls its kind in the plural; undefined where that is not served, or does not matter. */
export interface Placed {
  readonly ref: ObjectRef;
  readonly plural?: string | undefined;
}

export interface Expected extends Placed {
  /** Who is about to have it, as `Kustomization/namespace/name`. */
  readonly owner: string;
}

export interface OwnerNearby extends Placed {
  /** It is this owner: what that has is in {@link PruneFacts.entries}. */
  readonly isSelf: boolean;
  /** It is being deleted together with all that it has. */
  readonly isGoing: boolean;
  /** Its deletion deletes all that it has. */
  readonly takesAlong: boolean;
  /** What it has in this cluster by its status, as far as something that is to go might take it along. */
  readonly has: readonly Placed[];
}

export interface EntryFacts {
  readonly entry: InventoryEntry;
  readonly ref: ObjectRef;
  readonly object: Seen;
  /** Who else claims it, in the ledger's order. */
  readonly claimants: readonly Claimant[];
}

/** What the cluster says of an object. */
export type Seen =
  | { readonly kind: "there"; readonly version: string; readonly plural: string; readonly metadata: Metadata }
  | { readonly kind: "gone" }
  /** The cluster was not asked, since it is not to be deleted in any case. */
  | { readonly kind: "unasked" }
  /** `message`: why it cannot be known, for people. */
  | { readonly kind: "unknown"; readonly message: string };

/** Another owner with a claim in the ledger. */
export interface Claimant {
  readonly uid: string;
  /** `Kustomization/namespace/name`. */
  readonly owner: string;
  readonly standing: Standing;
}

/** `going`: it is being deleted together with all that it has. `gone`: there is none of this uid. */
export type Standing = "alive" | "going" | "gone";
