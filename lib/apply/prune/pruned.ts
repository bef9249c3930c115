import type { InventoryEntry } from "../../core/ports/inventory-store.ts";

/** What became of one object that is no longer wanted. */
export type Pruned =
  /** The API server accepted the delete, or it was gone already. `held`: a finalizer still keeps it. */
  | { readonly kind: "deleted"; readonly entry: InventoryEntry; readonly held: boolean }
  /** It stays: an annotation protects it (`isMarked`), it is another's, or it is another object. */
  | { readonly kind: "skipped"; readonly entry: InventoryEntry; readonly why: string; readonly isMarked: boolean }
  /** It is to be another's and is not yet: it is looked at again. */
  | { readonly kind: "pending"; readonly entry: InventoryEntry; readonly why: string }
  | { readonly kind: "refused"; readonly entry: InventoryEntry; readonly message: string };

/**
 * The inventory after a prune, without what is seen gone. Objects that a finalizer holds stay as `deleting` and those that the
 * API server would not delete stay as they are, so that a later run looks at them again. What a mark has kept is retained: it
 * is never deleted later, nor a namespace from under it. What is being handed over stays, as `planned`. Others' objects leave for
 * good. Pure.
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
