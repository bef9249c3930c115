import type { Metadata } from "../core/manifest.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import { ownEntry } from "./field-managers.ts";
import { isOwnedBy, keptBy } from "./opt-outs.ts";

export interface KeepDeps {
  readonly owner: { readonly name: string; readonly namespace: string };
  /** The owner who else claims this entry and still exists, or undefined: such an object is handed over, not deleted. */
  readonly otherOwner: (id: string, signal: AbortSignal) => Promise<string | undefined>;
}

export interface ReasonToKeep {
  readonly why: string;
  /** It stays by a mark on it, so it is still ours; else it is another's or nobody's. */
  readonly isMarked: boolean;
}

/** The checks before a delete, in order; each names why the object stays. Undefined: it may be deleted. */
export async function reasonToKeep(
  entry: InventoryEntry,
  metadata: Metadata,
  { owner, otherOwner }: KeepDeps,
  signal: AbortSignal,
): Promise<ReasonToKeep | undefined> {
  if (!isOwnedBy(metadata, owner)) return { why: "its owner labels name another owner", isMarked: false };
  const mark = keptBy(metadata);
  if (mark !== undefined) return { why: `${mark} on the object in the cluster`, isMarked: true };
  if (entry.uid !== metadata.uid && ownEntry(metadata.managedFields) === undefined) {
    return { why: "somebody else made an object of its name", isMarked: false };
  }
  const other = await otherOwner(entry.id, signal);
  return other === undefined ? undefined : { why: `${other} has it now`, isMarked: false };
}
