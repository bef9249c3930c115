import type { Metadata } from "../../core/manifest.ts";
import type { VersionedRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Claimant } from "./facts.ts";

interface Decided {
  readonly entry: InventoryEntry;
}

/** The object as it was checked. A delete or patch has its uid and resourceVersion as precondition. */
export interface CheckedObject {
  readonly ref: VersionedRef;
  readonly metadata: Metadata;
}

/** The decision about one inventory entry whose object is not wanted. */
export type PruneDecision =
  /** It does not exist, or its kind is no longer served: its entry leaves the inventory. */
  | (Decided & { readonly kind: "gone" })
  /** `isTerminating`: it was deleted before, and a finalizer holds it. */
  | (Decided & { readonly kind: "delete"; readonly checked: CheckedObject; readonly isTerminating: boolean })
  /** It stays. `isRetained`: its entry stays too, and it is never deleted later. Else it is not ours, and its entry goes. */
  | KeepDecision
  /** Another owner gets it. Its entry stays until that owner's labels are on it. */
  | (Decided & {
      readonly kind: "handOver";
      readonly why: string;
      readonly to: NextOwner;
      readonly checked: CheckedObject;
    })
  /** Its deletion would cascade to objects that must stay; `line` names them. Then nothing is pruned. */
  | (Decided & { readonly kind: "refuse"; readonly line: string })
  /**
   * Too little is known about it: it stays as it is, and the other objects are pruned. `isDeleted`: all that is wanted of it was done, its
   * delete was accepted in an earlier run; only whether it is gone is not known.
   */
  | (Decided & { readonly kind: "unknown"; readonly line: string; readonly isDeleted?: true });

export type KeepDecision = Decided & {
  readonly kind: "keep";
  readonly why: string;
  readonly isRetained: boolean;
  /** Its next owner is of another kind, so our labels and fields are still there beside the new ones: they are removed. */
  readonly givesUp?: CheckedObject;
} & AfterRelease;

/** What to do after our claim on a kept object ends. */
interface AfterRelease {
  /** Another owner claims it too, and its labels may name that owner, which then waits for our claim to end. */
  readonly isAwaited: boolean;
  /** Its labels name another owner. While that owner is being deleted, it may hand the object back to us. */
  readonly hasOtherLabels: boolean;
  /** The claimant in its labels; undefined if there is none, or if that owner ended its claim before the claims were read. */
  readonly labelled: Claimant | undefined;
}

/** `claimant`: undefined while it has no claim and is only about to apply the object. */
export interface NextOwner {
  readonly owner: string;
  readonly claimant: Claimant | undefined;
}
