import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { parseEntryId } from "../set/entry-id.ts";

/** The outcome for one object that the manifests do not contain any more. */
export type Pruned =
  /** The API server accepted the delete, or the object did not exist. `held`: a finalizer still keeps it. */
  | { readonly kind: "deleted"; readonly entry: InventoryEntry; readonly held: boolean }
  /** It stays: an annotation protects it (`isMarked`), or it is another owner's or another client's object. */
  | { readonly kind: "skipped"; readonly entry: InventoryEntry; readonly why: string; readonly isMarked: boolean }
  /** It is handed over to the owner `to`, which has not applied it yet: a later run decides again. */
  | { readonly kind: "pending"; readonly entry: InventoryEntry; readonly why: string; readonly to: string }
  | { readonly kind: "refused"; readonly entry: InventoryEntry; readonly message: string };

/**
 * The inventory after a prune. Removes deleted objects and those of other owners. Terminating objects become `deleting`, and objects that
 * are being handed over become `planned`; refused ones stay as they are; objects that an annotation protects become `retained` and are
 * never deleted, nor is their namespace. Pure.
 */
export function withoutPruned(before: readonly InventoryEntry[], pruned: readonly Pruned[]): readonly InventoryEntry[] {
  const outcomes = new Map(pruned.map((outcome) => [outcome.entry.id, outcome]));
  return before.flatMap((entry): readonly InventoryEntry[] => {
    const outcome = outcomes.get(entry.id);
    switch (outcome?.kind) {
      case undefined:
      case "refused":
        return [outcome?.entry ?? entry];
      case "pending":
        return [{ ...entry, state: "planned" }];
      case "skipped":
        return outcome.isMarked ? [{ ...entry, state: "retained" }] : [];
      case "deleted":
        return outcome.held ? [{ ...entry, state: "deleting" }] : [];
    }
  });
}

/** The objects that this prune has deleted, without those of earlier ones: an object may take long to disappear. Pure. */
export function newlyDeleted(pruned: readonly Pruned[]): readonly ObjectRef[] {
  const isNew = ({ kind, entry }: Pruned) => kind === "deleted" && entry.state !== "deleting";
  return pruned.filter(isNew).map(({ entry }) => parseEntryId(entry.id));
}
