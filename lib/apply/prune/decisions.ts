import type { Metadata } from "../../core/manifest.ts";
import type { VersionedRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Claimant } from "./facts.ts";

interface Decided {
  readonly entry: InventoryEntry;
}

/** An object as it was judged: a delete or a change is of this one and of this state of it, or of none. */
export interface Judged {
  readonly ref: VersionedRef;
  readonly metadata: Metadata;
}

/** What is to become of one entry of the inventory that is not wanted. */
export type PruneDecision =
  /** It is not in the cluster, or its kind is no longer served: nothing is to be done, and its entry leaves the inventory. */
  | (Decided & { readonly kind: "gone" })
  /** `isGoing`: it was deleted before, and a finalizer holds it. */
  | (Decided & { readonly kind: "delete"; readonly judged: Judged; readonly isGoing: boolean })
  /** It stays. `isRetained`: its entry stays too, and it is never deleted later. Else it is not ours, and its entry goes. */
  | (Decided & { readonly kind: "keep"; readonly why: string; readonly isRetained: boolean } & Leaving)
  /** It is to be another owner's, whose labels are not on it yet: until they are, its entry stays. */
  | (Decided & { readonly kind: "handOver"; readonly why: string; readonly to: Heir; readonly judged: Judged })
  /** It would take along what is to stay, which `line` names: nothing at all is pruned. */
  | (Decided & { readonly kind: "refuse"; readonly line: string })
  /** Too little is known of it: it stays as it is, and the others are not held up by it. */
  | (Decided & { readonly kind: "unknown"; readonly line: string });

/** What the end of our claim on an object that stays may call for. */
interface Leaving {
  /** Another owner claims it too, and its labels are not known to be ours: whom they name may wait for our claim to end. */
  readonly isAwaited: boolean;
  /** The claimant that its labels name: while that one is being deleted, it may still give the object back to us. */
  readonly labelled: Claimant | undefined;
}

/** `claimant`: undefined where it has no claim yet and is only about to make one. */
export interface Heir {
  readonly owner: string;
  readonly claimant: Claimant | undefined;
}
