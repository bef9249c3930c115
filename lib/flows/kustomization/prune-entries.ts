import { kustomizeGroup } from "../../api/names.ts";
import { parseEntryId } from "../../apply/entry-id.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { withoutPruned } from "../../apply/next-inventory.ts";
import { type Pruned, prune } from "../../apply/prune.ts";
import { subject } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Claim } from "../../core/ports/ledger.ts";
import { countPruned } from "./count-objects.ts";
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
  const pruned = await prune(
    entries,
    live,
    {
      cluster,
      owner: { name, namespace },
      concurrency: deps.concurrency,
      otherOwner: (id) => otherOwner(claims.get(id) ?? [], of),
    },
    run.signal,
  );
  countPruned(pruned, of);
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

/** The first other claimant that still exists: a claim whose owner's uid is gone is void. */
async function otherOwner(claims: readonly Claim[], of: SubjectOfRun): Promise<string | undefined> {
  for (const { ownerUid, owner } of claims) {
    if (ownerUid === of.owner.uid) continue;
    const [kind = "", namespace = "", name = ""] = owner.split("/");
    const ref = { group: kustomizeGroup, version: "v1", kind, namespace, name };
    const live = await of.cluster.get(ref, of.run.signal);
    if (live?.metadata.uid === ownerUid) return owner;
  }
  return undefined;
}
