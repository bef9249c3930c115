import { kustomizeGroup, type LabelledName, ownerLabels } from "../api/names.ts";
import type { Metadata } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { isOwnedBy } from "./set/opt-outs.ts";

/** Who wants to delete an object to recreate it, and what it has applied before. */
export interface ReplaceDeps {
  readonly owner: LabelledName & { readonly kind: string };
  /** Who else claims this entry and lives on, or undefined. */
  readonly otherOwner: (id: string, signal: AbortSignal) => Promise<string | undefined>;
  /** The inventory as it was before this run. */
  readonly inventory: readonly InventoryEntry[];
}

/**
 * Why `force` may not delete this live object, or undefined where it may. Flux deletes whatever has the name; we delete what
 * is ours (our owner labels, or an inventory entry that we have applied, with this uid) and no other living owner claims. See
 * ADR 0011. Asked while planning, and again right before the delete.
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

/** The other owner that the labels name; `?` stands for a label that is missing. */
function labelledOwner({ labels }: Metadata, owner: ReplaceDeps["owner"]): string | undefined {
  const isOther = Object.entries(ownerLabels(owner)).some(([key, value]) => (labels?.[key] ?? value) !== value);
  if (!isOther) return undefined;
  const { kind, labelGroup = kustomizeGroup } = owner;
  return `${kind}/${labels?.[`${labelGroup}/namespace`] ?? "?"}/${labels?.[`${labelGroup}/name`] ?? "?"}`;
}

/** An entry without a fingerprint may be of an object that was only ever left alone, as `ssa: IfNotPresent` asks for. */
function hasApplied(inventory: readonly InventoryEntry[], id: string, uid: string | undefined): boolean {
  const entry = inventory.find((one) => one.id === id);
  return entry?.uid !== undefined && entry.uid === uid && entry.fingerprint !== undefined;
}
