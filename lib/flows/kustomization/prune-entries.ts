import { parseEntryId } from "../../apply/entry-id.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { withoutPruned } from "../../apply/next-inventory.ts";
import { type Pruned, prune } from "../../apply/prune.ts";
import { subject } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { countPruned } from "./count-objects.ts";
import { logSkippedPrunes } from "./log-skipped.ts";
import { otherOwner, refOfOwner } from "./other-owner.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * Prunes these entries and takes out of the inventory what is gone. Order of writes: the objects, then the ledger, then
 * the inventory, so that a run killed between leaves nothing unlisted.
 */
export async function pruneEntries(
  entries: readonly InventoryEntry[],
  inventory: readonly InventoryEntry[],
  live: LiveObjects,
  of: SubjectOfRun,
): Promise<{ readonly pruned: readonly Pruned[]; readonly inventory: readonly InventoryEntry[] }> {
  if (entries.length === 0) return { pruned: [], inventory };
  const { cluster, deps, owner, name, namespace, run } = of;
  const claims = await deps.ledger.claims(
    owner.clusterUid,
    entries.map(({ id }) => id),
    run.signal,
  );
  const heirs = new Set<string>();
  const pruned = await prune(
    entries,
    live,
    {
      cluster,
      owner: { name, namespace },
      concurrency: deps.concurrency,
      otherOwner: async (id) => {
        const heir = await otherOwner(claims.get(id) ?? [], of);
        if (heir !== undefined) heirs.add(heir);
        return heir;
      },
    },
    run.signal,
  );
  countPruned(pruned, of);
  logSkippedPrunes(pruned, of);
  for (const heir of heirs) {
    // The object still has our labels and content: its heir makes it its own at once, or nobody could delete it later.
    const reason = `${run.key.kind}/${namespace}/${name} has handed objects over`;
    await deps.requests.request({ cluster: run.key.cluster, ...refOfOwner(heir) }, reason, run.signal);
  }
  const left = pruned.filter((outcome) => outcome.kind === "skipped" || (outcome.kind === "deleted" && !outcome.held));
  const ids = left.map(({ entry }) => entry.id);
  await deps.ledger.release(owner.clusterUid, owner.uid, ids, run.fence, run.signal);
  return { pruned, inventory: withoutPruned(inventory, pruned) };
}

/** The lines that Flux's event has for a prune; what an earlier run has told already is left out. */
export function pruneLines(pruned: readonly Pruned[]): readonly string[] {
  return pruned
    .filter(({ kind, entry }) => kind !== "refused" && entry.state !== "deleting")
    .map(({ kind, entry }) => `${subject(parseEntryId(entry.id))} ${kind}`);
}
