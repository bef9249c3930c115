import { formatEntryId } from "../../apply/entry-id.ts";
import { subject } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { someOf } from "../../core/some-of.ts";
import { judgeEntries } from "./judge-entries.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

const maxNamed = 10;

/**
 * An inventory that is older than the status, with what the status has no more as retained: it was let go since, under
 * `prune: false` or by Flux, and a user may count on it. Only what a prune would delete is told of and kept so; the rest, which
 * is gone or kept for a reason of its own, goes the way of any prune.
 */
export async function retainLetGo(
  saved: readonly InventoryEntry[],
  savedUnder: number,
  of: SubjectOfRun,
): Promise<readonly InventoryEntry[]> {
  const { deps, kustomization, owner, run } = of;
  const { observedGeneration, inventory } = kustomization.status;
  const shown = new Set((inventory?.entries ?? []).map(({ id }) => id));
  const absent = saved.filter(({ id, state }) => state !== "retained" && !shown.has(id));
  const judged = await judgeEntries(absent, new Map(), of);
  const letGo = judged.filter(({ why }) => why === undefined).map(({ ref }) => ref);
  if (letGo.length === 0) return saved;
  const names = someOf(letGo.map(subject), maxNamed);
  const message =
    `the saved inventory is of generation ${savedUnder}, the status of generation ${observedGeneration}, which does not have ` +
    `${names} any more: not pruned, since it was let go meanwhile. Delete it yourself where nobody needs it`;
  deps.log.warn(message, { ...run.key });
  await of.tell({ type: "Warning", reason: "InventoryOutdated", message, annotations: {} });
  const ids = new Set(letGo.map(formatEntryId));
  const entries = saved.map((entry) => (ids.has(entry.id) ? { ...entry, state: "retained" as const } : entry));
  // Before the inventory: a run that is killed between judges them again. Their next owner may delete them.
  await deps.ledger.release(owner.clusterUid, owner.uid, [...ids], run.fence, run.signal);
  // At once, so that it is told once however often the rest of the run is tried.
  await deps.inventories.save(owner, entries, run.fence, run.signal);
  return entries;
}
