import type { Metadata } from "../core/manifest.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import { ownEntry } from "./field-managers.ts";
import { isOwnedBy, keptBy } from "./opt-outs.ts";

export interface KeepDeps {
  readonly owner: { readonly name: string; readonly namespace: string };
  /** The owner who else claims this entry and still exists, or undefined: such an object is handed over, not deleted. */
  readonly otherOwner: (id: string, signal: AbortSignal) => Promise<string | undefined>;
}

/** The checks before a delete, in order; each names why the object stays. Undefined: it may be deleted. */
export async function reasonToKeep(
  entry: InventoryEntry,
  metadata: Metadata,
  { owner, otherOwner }: KeepDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isOwnedBy(metadata, owner)) return "its owner labels name another owner";
  const mark = keptBy(metadata);
  if (mark !== undefined) return `${mark} on the object in the cluster`;
  if (entry.uid !== metadata.uid && ownEntry(metadata.managedFields) === undefined) {
    return "somebody else made an object of its name";
  }
  const other = await otherOwner(entry.id, signal);
  return other === undefined ? undefined : `${other} has it now`;
}
