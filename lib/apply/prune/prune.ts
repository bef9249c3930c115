import { equal } from "../../core/equal.ts";
import { mapLimit } from "../../core/map-limit.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { parseEntryId } from "../entry-id.ts";
import { maxLooks } from "../judged-only.ts";
import type { ApplySet } from "./apply-set.ts";
import { carryOut } from "./carry-out.ts";
import { decidePrune } from "./decide-prune.ts";
import type { PruneDecision } from "./decisions.ts";
import { gatherFacts, type PruneTask } from "./gather-facts.ts";
import { type Pruned, withoutPruned } from "./pruned.ts";
import { release } from "./release.ts";

export interface PruneResult {
  readonly pruned: readonly Pruned[];
  /** Why no more was pruned: what would go with it is still wanted. */
  readonly refusals: readonly string[];
  /** As it is saved now. */
  readonly inventory: readonly InventoryEntry[];
}

export interface PruneOrder extends PruneTask {
  /** The inventory as it is saved. */
  readonly saved: readonly InventoryEntry[];
  /** What was decided before: known in the inventory before it is decided anew. */
  readonly planned: readonly PruneDecision[];
}

/** A prune under way. */
interface Progress {
  readonly order: PruneOrder;
  readonly set: ApplySet;
  readonly signal: AbortSignal;
  saved: readonly InventoryEntry[];
  /** What is over, by entry id. */
  readonly done: Map<string, Pruned>;
  /** How often each has changed under its delete. */
  readonly conflicts: Map<string, number>;
  /** The owners that this prune has asked to run. */
  readonly woken: Set<string>;
  /** The owners that this prune is listening to. */
  listenedTo: ReadonlySet<string>;
}

/**
 * Prunes an inventory: gathers the facts, decides, and carries out in reverse apply order. All objects are tried. What
 * has changed meanwhile is gathered and decided anew, with all that has not had its turn yet.
 *
 * Order of writes: the inventory (what may leave it as `planned`), the objects, the ledger, the inventory. So a run killed
 * between any two leaves nothing unlisted, and what is wanted again is claimed again.
 */
export async function prune(order: PruneOrder, set: ApplySet, signal: AbortSignal): Promise<PruneResult> {
  const progress: Progress = {
    order,
    set,
    signal,
    saved: order.saved,
    done: new Map(),
    conflicts: new Map(),
    woken: new Set(),
    listenedTo: new Set(),
  };
  let live = order.live;
  let refusals: readonly string[] = [];
  await announce(order.planned, progress);
  for (;;) {
    const inventory = withoutPruned(order.inventory, [...progress.done.values()]);
    const facts = await gatherFacts({ ...order, inventory, live }, set, signal);
    const decisions = decidePrune(facts).filter(({ entry }) => !progress.done.has(entry.id));
    refusals = decisions.flatMap((decision) => (decision.kind === "refuse" ? [decision.line] : []));
    if (refusals.length > 0) break;
    // What an heir did before it was listened to shows only in a new look.
    if (await announce(decisions, progress)) continue;
    const again = await carryOutInOrder(decisions, progress);
    if (again.size === 0) break;
    live = new Map([...live].filter(([id]) => !again.has(id)));
  }
  const pruned = [...progress.done.values()];
  const inventory = withoutPruned(order.inventory, pruned);
  // The inventory of an owner that is deleted and leaves its objects behind is about to be removed.
  const isKept = !(order.isLeaving && order.policy === "retain");
  if (isKept && !equal(progress.saved, inventory)) await set.inventories.save(set.owner, inventory, set.fence, signal);
  return { pruned: order.policy === "retain" ? [] : pruned, refusals, inventory };
}

/**
 * Before anything is done: listens to the heirs, asks them to apply what they are to have, and marks in the inventory what may
 * leave it. Answers whether an heir is listened to that was not before.
 */
async function announce(decisions: readonly PruneDecision[], progress: Progress): Promise<boolean> {
  const { order, set, signal } = progress;
  if (order.isLeaving) return false;
  const isListening = await listenToHeirs(decisions, progress);
  // An earlier run has asked for what is planned: asked again, two owners that wait for each other would never stop waking each
  // other.
  await wakeHeirs(
    decisions.filter(({ entry }) => entry.state !== "planned"),
    progress,
  );
  const mayLeave = new Set(decisions.filter(leavesInventory).map(({ entry }) => entry.id));
  const ahead = withoutPruned(order.inventory, [...progress.done.values()]).map((entry): InventoryEntry => {
    return mayLeave.has(entry.id) ? { ...entry, state: "planned" } : entry;
  });
  if (!equal(progress.saved, ahead)) {
    await set.inventories.save(set.owner, ahead, set.fence, signal);
    progress.saved = ahead;
  }
  return isListening;
}

/** An heir that changes its mind leaves the object to us, and says so. */
async function listenToHeirs(decisions: readonly PruneDecision[], progress: Progress): Promise<boolean> {
  const heirs = decisions.flatMap((decision) => {
    return decision.kind === "handOver" && decision.to.claimant !== undefined ? [decision.to.owner] : [];
  });
  const all = new Set([...progress.listenedTo, ...heirs]);
  if (all.size === progress.listenedTo.size) return false;
  await progress.set.others.listenTo([...all].toSorted(), progress.signal);
  progress.listenedTo = all;
  return true;
}

/** Asks each that has a claim on what is handed over to run, once. */
async function wakeHeirs(decisions: readonly PruneDecision[], { set, signal, woken }: Progress): Promise<void> {
  for (const decision of decisions) {
    if (decision.kind !== "handOver" || decision.to.claimant === undefined || woken.has(decision.to.owner)) continue;
    woken.add(decision.to.owner);
    await set.others.wake(decision.to.owner, "has objects to hand over", signal);
  }
}

/** What is being deleted already keeps its state, and so does what is refused or cannot be known. */
function leavesInventory(decision: PruneDecision): boolean {
  return decision.kind !== "unknown" && decision.kind !== "refuse" && !(decision.kind === "delete" && decision.isGoing);
}

/** Kind by kind, backwards, until something has changed under its delete; answers the ids of that. */
async function carryOutInOrder(decisions: readonly PruneDecision[], progress: Progress): Promise<ReadonlySet<string>> {
  const { order, set, signal, done, conflicts } = progress;
  const again = new Set<string>();
  const kindOf = ({ entry }: PruneDecision) => {
    const { group, kind } = parseEntryId(entry.id);
    return `${group}/${kind}`;
  };
  for (const sameKind of Map.groupBy(decisions.toReversed(), kindOf).values()) {
    const outcomes = await mapLimit(
      sameKind,
      set.concurrency,
      async (decision, stop) => {
        const looks = 1 + (conflicts.get(decision.entry.id) ?? 0);
        return { decision, pruned: await carryOut(decision, order, looks >= maxLooks, set, stop) };
      },
      signal,
    );
    for (const { decision, pruned } of outcomes) {
      const { id } = decision.entry;
      if (pruned !== undefined) done.set(id, pruned);
      else {
        again.add(id);
        conflicts.set(id, 1 + (conflicts.get(id) ?? 0));
      }
    }
    if (again.size > 0) break;
  }
  const over = decisions.filter(({ entry }) => isOver(done.get(entry.id)));
  if (order.isLeaving) await wakeHeirs(over, progress);
  for (const id of await release(over, set, signal)) {
    done.delete(id);
    again.add(id);
  }
  return again;
}

/** Whether it is no longer ours, or gone. */
function isOver(outcome: Pruned | undefined): boolean {
  return outcome?.kind === "skipped" || (outcome?.kind === "deleted" && !outcome.held);
}
