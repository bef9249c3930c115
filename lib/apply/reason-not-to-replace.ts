import { kustomizeGroup, type LabelledName, ownerLabels } from "../api/names.ts";
import type { Metadata } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { isOwnedBy } from "./set/opt-outs.ts";

/** Who wants to delete an object to recreate it, and what it has applied before. */
export interface ReplaceDeps {
  readonly owner: LabelledName & { readonly kind: string };
  /** Another live owner that claims this entry, or undefined. */
  readonly otherOwner: (id: string, signal: AbortSignal) => Promise<string | undefined>;
  /** The inventory as it was before this run. */
  readonly inventory: readonly InventoryEntry[];
}

/**
 * Why `force` may not delete this live object, or undefined where it may. Flux deletes any object with that name; we delete only objects
 * that are ours (our owner labels, or an inventory entry that we applied, with this uid) and that no other live owner claims. See ADR 0011.
 * Asked while planning, and again right before the delete.
 */
export async function reasonNotToReplace(
  id: string,
  live: Metadata,
  { owner, inventory, otherOwner }: ReplaceDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isOwnedBy(live, owner)) {
    const labelled = labelledOwner(live, owner);
    if (labelled !== undefined) return `it belongs to ${labelled} by its labels`;
    if (!hasApplied(inventory, id, live.uid))
      return `it was not applied by this ${owner.kind} and does not carry its labels`;
  }
  const other = await otherOwner(id, signal);
  return other === undefined ? undefined : `${other} claims it too`;
}

/** The beginning is Flux's, which names every end of a forced delete so (reference 3.14, error texts). */
export function notReplaced({ ref }: DesiredObject, why: string): string {
  return `${subject(ref)} immutable field detected, failed to delete object: ${why}; delete it by hand if it is to be recreated`;
}

/** The other owner in the labels; `?` stands for a missing label. */
function labelledOwner({ labels }: Metadata, owner: ReplaceDeps["owner"]): string | undefined {
  const isOther = Object.entries(ownerLabels(owner)).some(([key, value]) => (labels?.[key] ?? value) !== value);
  if (!isOther) return undefined;
  const { kind, labelGroup = kustomizeGroup } = owner;
  return `${kind}/${labels?.[`${labelGroup}/namespace`] ?? "?"}/${labels?.[`${labelGroup}/name`] ?? "?"}`;
}

/** An entry without a fingerprint may be of an object that was never applied, for example because of `ssa: IfNotPresent`. */
function hasApplied(inventory: readonly InventoryEntry[], id: string, uid: string | undefined): boolean {
  const entry = inventory.find((one) => one.id === id);
  return entry?.uid !== undefined && entry.uid === uid && entry.fingerprint !== undefined;
}
