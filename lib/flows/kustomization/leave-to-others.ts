import { formatEntryId } from "../../apply/entry-id.ts";
import type { Wanted } from "../../apply/prune-refusal.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { logLeftToOthers } from "./log-skipped.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** What of these nobody else is about to have; of the others the log says whose they will be. */
export function leaveToOthers(
  entries: readonly InventoryEntry[],
  soon: readonly Wanted[],
  of: SubjectOfRun,
): readonly InventoryEntry[] {
  const others = new Map(soon.map((wanted) => [formatEntryId(wanted.ref), wanted]));
  logLeftToOthers(
    entries.flatMap(({ id }) => others.get(id) ?? []),
    of,
  );
  return entries.filter(({ id }) => !others.has(id));
}
