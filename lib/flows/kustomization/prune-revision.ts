import type { DesiredObject } from "../../apply/desired-objects.ts";
import type { LiveObjects } from "../../apply/live-objects.ts";
import { decidePrune } from "../../apply/prune/decide-prune.ts";
import type { PruneDecision } from "../../apply/prune/decisions.ts";
import { gatherFacts, type PruneTask } from "../../apply/prune/gather-facts.ts";
import { type PruneResult, prune } from "../../apply/prune/prune.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { applySetOf } from "./apply-set-of.ts";
import { countPruned } from "./count-objects.ts";
import { logSkippedPrunes } from "./log-skipped.ts";
import type { ResolvedSource } from "./resolve-source.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** What a revision wants, and what was seen of its owner's objects. */
interface Revision {
  readonly source: ResolvedSource;
  readonly desired: readonly DesiredObject[];
  readonly live: LiveObjects;
}

/** What is to become of what the artifact no longer wants, decided before the first write. */
export async function planPrune(
  inventory: readonly InventoryEntry[],
  revision: Revision,
  of: SubjectOfRun,
): Promise<readonly PruneDecision[]> {
  const facts = await gatherFacts(taskOf(inventory, revision, of), applySetOf(of, revision.source), of.run.signal);
  return decidePrune(facts);
}

/**
 * The last step of an apply: what the artifact no longer wants is deleted, or let go of with `prune: false`. It is decided anew: the
 * apply took its time, and other owners may have put something there meanwhile.
 *
 * @param inventory what there is now, with what was applied
 * @param saved what of that is saved
 */
export async function pruneRevision(
  planned: readonly PruneDecision[],
  inventory: readonly InventoryEntry[],
  saved: readonly InventoryEntry[],
  revision: Revision,
  of: SubjectOfRun,
): Promise<PruneResult> {
  const order = { ...taskOf(inventory, revision, of), planned, saved };
  const result = await prune(order, applySetOf(of, revision.source), of.run.signal);
  countPruned(result.pruned, of);
  logSkippedPrunes(result.pruned, of);
  return result;
}

function taskOf(inventory: readonly InventoryEntry[], { desired, live }: Revision, of: SubjectOfRun): PruneTask {
  return {
    policy: of.kustomization.spec.prune ? "prune" : "retain",
    isLeaving: false,
    wanted: desired.map(({ ref, resource }) => ({ ref, plural: resource?.plural })),
    inventory,
    live,
  };
}
