import { parseEntryId } from "../../apply/entry-id.ts";
import { decidePrune } from "../../apply/prune/decide-prune.ts";
import type { PruneDecision } from "../../apply/prune/decisions.ts";
import type { Placed } from "../../apply/prune/facts.ts";
import { gatherFacts } from "../../apply/prune/gather-facts.ts";
import { prune } from "../../apply/prune/prune.ts";
import { subject } from "../../core/object-ref.ts";
import { Outage } from "../../core/outage.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { someOf } from "../../core/some-of.ts";
import { applySetOf } from "./apply-set-of.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

const maxNamed = 10;

/**
 * An inventory that is older than the status, with what the status has no more as retained: it was let go since, under
 * `prune: false` or by Flux, and a user may count on it. Only what a prune would delete, now or once its heir changes its mind, is
 * named and kept so; the rest is gone, or kept for a reason of its own, and is left to the prune of this run.
 *
 * @throws Outage where one of them cannot be looked at: a save would carry the present generation, and a later prune delete it
 */
export async function retainLetGo(
  saved: readonly InventoryEntry[],
  savedUnder: number,
  of: SubjectOfRun,
): Promise<readonly InventoryEntry[]> {
  const { deps, kustomization, owner, run } = of;
  const { observedGeneration, inventory } = kustomization.status;
  const shown = new Set((inventory?.entries ?? []).map(({ id }) => id));
  const absent = new Set(saved.filter(({ id }) => !shown.has(id)).map(({ id }) => id));
  const set = applySetOf({ ...of, owner: { ...owner, generation: savedUnder } }, undefined);
  const facts = {
    isLeaving: true,
    inventory: saved,
    wanted: placed(saved, ({ id }) => !absent.has(id)),
    live: new Map(),
  };
  const judged = decidePrune(await gatherFacts({ ...facts, policy: "prune" }, set, run.signal));
  for (const one of judged) if (one.kind === "unknown") throw new Outage("ReconciliationFailed", one.line);
  const letGo = new Set(judged.filter(isDeletedSometime).map(({ entry }) => entry.id));
  if (letGo.size === 0) return saved;
  const names = someOf(
    [...letGo].map((id) => subject(parseEntryId(id))),
    maxNamed,
  );
  const message =
    `the saved inventory is of generation ${savedUnder}, the status of generation ${observedGeneration}, which does not have ` +
    `${names} any more: not pruned, since it was let go meanwhile. Delete it yourself where nobody needs it`;
  deps.log.warn(message, { ...run.key });
  await of.tell({ type: "Warning", reason: "InventoryOutdated", message, annotations: {} });
  // At once, so that it is told once however often the rest of the run is tried.
  const wanted = placed(saved, ({ id }) => !letGo.has(id));
  const order = { ...facts, isLeaving: false, wanted, policy: "retain", saved, planned: [] } as const;
  return (await prune(order, set, run.signal)).inventory;
}

/** What is to be handed over is deleted as well where its heir changes its mind. */
function isDeletedSometime(decision: PruneDecision): boolean {
  return decision.kind === "handOver" || (decision.kind === "delete" && !decision.isGoing);
}

function placed(entries: readonly InventoryEntry[], matches: (entry: InventoryEntry) => boolean): readonly Placed[] {
  return entries.filter(matches).map(({ id }) => ({ ref: parseEntryId(id) }));
}
