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
  /** It is not in the cluster, or its kind is served no more: nothing is to be done, and it is known no more. */
  | (Decided & { readonly kind: "gone" })
  /** `isGoing`: that was done before, and something holds it. */
  | (Decided & { readonly kind: "delete"; readonly judged: Judged; readonly isGoing: boolean })
  /** It stays. `retained`: as ours, known and never deleted later. Else it is another's or nobody's, and known no more. */
  | (Decided & { readonly kind: "keep"; readonly why: string; readonly isRetained: boolean } & Leaving)
  /** It is to be another's, whose labels are not on it yet: until they are, it is known here. */
  | (Decided & { readonly kind: "handOver"; readonly why: string; readonly to: Heir; readonly judged: Judged })
  /** It would take along what is to stay, which `line` names: nothing at all is pruned. */
  | (Decided & { readonly kind: "refuse"; readonly line: string })
  /** Too little is known of it: it stays as it is, and the others go their way. */
  | (Decided & { readonly kind: "unknown"; readonly line: string });

/** What has to be done where a claim on an object ends that stays. */
interface Leaving {
  /** Somebody else claims it too and its labels are not known to be ours: whose they are may wait for our claim to end. */
  readonly isAwaited: boolean;
  /** Whom of these its labels name: while that one is going it may still give it back to us. */
  readonly labelled: Claimant | undefined;
}

/** `claimant`: undefined where it has no claim yet and is only about to make one. */
export interface Heir {
  readonly owner: string;
  readonly claimant: Claimant | undefined;
}
