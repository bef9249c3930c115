import { mapLimit } from "../../core/concurrency.ts";
import { equal } from "../../core/json.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { ApplySet } from "../set/apply-set.ts";
import { parseEntryId } from "../set/entry-id.ts";
import { maxLooks } from "../set/preconditions.ts";
import { carryOut } from "./carry-out.ts";
import { decidePrune } from "./decide-prune.ts";
import type { PruneDecision } from "./decisions.ts";
import { gatherFacts, type PruneTask } from "./gather-facts.ts";
import { type Pruned, withoutPruned } from "./pruned.ts";
import { release } from "./release.ts";

export interface PruneResult {
  readonly pruned: readonly Pruned[];
  /** Why the prune stopped: an object that would be deleted along is still wanted. */
  readonly refusals: readonly string[];
  /** As it is saved now. */
  readonly inventory: readonly InventoryEntry[];
}

export interface PruneOrder extends PruneTask {
  /** The saved inventory. */
  readonly saved: readonly InventoryEntry[];
  /** The decisions made while planning. They are saved to the inventory before the facts are gathered again. */
  readonly planned: readonly PruneDecision[];
}

/** A prune under way. */
interface Progress {
  readonly order: PruneOrder;
  readonly set: ApplySet;
  readonly signal: AbortSignal;
  saved: readonly InventoryEntry[];
  /** The outcomes, by entry id. */
  readonly done: Map<string, Pruned>;
  /** How often each object has changed before its delete. */
  readonly conflicts: Map<string, number>;
  /** The owners that this prune has woken. */
  readonly woken: Set<string>;
  /** The owners that this prune has subscribed to. */
  subscribedTo: ReadonlySet<string>;
}

/**
 * Prunes an inventory: gathers the facts, decides, and carries out the decisions in reverse apply order. All objects are tried. If
 * an object has changed meanwhile, the facts of all remaining objects are gathered again and decided again.
 *
 * Order of writes: the inventory (entries that may leave it become `planned`), the objects, the ledger, the inventory. If a run is killed
 * between any two of them, the inventory lists every object, and an object that is wanted again is claimed again.
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
    subscribedTo: new Set(),
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
    // The facts may be older than the subscription: gather them again.
    if (await announce(decisions, progress)) continue;
    const again = await carryOutInOrder(decisions, progress);
    if (again.size === 0) break;
    live = new Map([...live].filter(([id]) => !again.has(id)));
  }
  const pruned = [...progress.done.values()];
  const inventory = withoutPruned(order.inventory, pruned);
  // The inventory of an owner that is deleted and leaves its objects behind is about to be removed.
  const isKept = !(order.isFinalizing && order.policy === "retain");
  if (isKept && !equal(progress.saved, inventory)) await set.inventories.save(set.owner, inventory, set.fence, signal);
  return { pruned: order.policy === "retain" ? [] : pruned, refusals, inventory };
}

/**
 * Runs before anything is written to the cluster: subscribes to the next owners, wakes them so that they apply their objects, and saves as
 * `planned` the entries that may leave the inventory. True if there is a new subscription.
 */
async function announce(decisions: readonly PruneDecision[], progress: Progress): Promise<boolean> {
  const { order, set, signal } = progress;
  if (order.isFinalizing) return false;
  const isNewSubscription = await subscribeToNextOwners(decisions, progress);
  // An earlier run has woken the next owners of `planned` entries. Woken again, two owners that wait for each other would wake each
  // other for ever.
  await wakeNextOwners(
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
  return isNewSubscription;
}

/** A next owner that no longer wants the object leaves it to us and wakes its subscribers. */
async function subscribeToNextOwners(decisions: readonly PruneDecision[], progress: Progress): Promise<boolean> {
  const nextOwners = decisions.flatMap((decision) => {
    return decision.kind === "handOver" && decision.to.claimant !== undefined ? [decision.to.owner] : [];
  });
  const all = new Set([...progress.subscribedTo, ...nextOwners]);
  if (all.size === progress.subscribedTo.size) return false;
  await progress.set.others.subscribeTo([...all].toSorted(), progress.signal);
  progress.subscribedTo = all;
  return true;
}

/** Wakes each next owner that claims an object, once. */
async function wakeNextOwners(decisions: readonly PruneDecision[], { set, signal, woken }: Progress): Promise<void> {
  for (const decision of decisions) {
    if (decision.kind !== "handOver" || decision.to.claimant === undefined || woken.has(decision.to.owner)) continue;
    woken.add(decision.to.owner);
    await set.others.wake(decision.to.owner, "has objects to hand over", signal);
  }
}

/** Terminating objects keep their state, and so do those that are refused or unknown. */
function leavesInventory(decision: PruneDecision): boolean {
  return (
    decision.kind !== "unknown" && decision.kind !== "refuse" && !(decision.kind === "delete" && decision.isTerminating)
  );
}

/** Kind by kind, in reverse order, until an object has changed before its delete; returns the ids of such objects. */
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
  if (order.isFinalizing) await wakeNextOwners(over, progress);
  for (const id of await release(over, set, signal)) {
    done.delete(id);
    again.add(id);
  }
  return again;
}

/** Whether the object is gone or no longer ours. */
function isOver(outcome: Pruned | undefined): boolean {
  return outcome?.kind === "skipped" || (outcome?.kind === "deleted" && !outcome.held);
}
