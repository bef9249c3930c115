import type { KustomizationStatus } from "../api/kustomization-status.ts";
import { someOf } from "../core/cut-text.ts";
import { Failure } from "../core/failure.ts";
import { equal } from "../core/json.ts";
import { subject } from "../core/object-ref.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import { Outage } from "../core/ports/outage.ts";
import type { AppliedObject } from "./apply-object.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { decidePrune } from "./prune/decide-prune.ts";
import type { PruneDecision } from "./prune/decisions.ts";
import { gatherFacts } from "./prune/gather-facts.ts";
import { prune } from "./prune/prune.ts";
import type { ApplySet, Placed } from "./set/apply-set.ts";
import { parseEntryId } from "./set/entry-id.ts";
import { adoptedEntries, isOlderInventory } from "./status-inventory.ts";

/** The inventory in the owner's own status. Anyone who may write a status can have written it. */
export interface OwnStatus {
  readonly status: Pick<KustomizationStatus, "observedGeneration" | "inventory">;
  readonly generation: number;
  /** The owner's deletion has begun: its status is no longer written, so it may show objects that are deleted already. */
  readonly isFinalizing: boolean;
}

/** Reports a problem with an inventory to the users of its owner. */
export interface InventoryReport {
  /** An id in the status cannot be parsed. The saved inventory is complete without it. */
  unreadable(message: string): void;
  /** The saved inventory is older than the status, and some of its objects are kept for that reason. */
  outdated(message: string): Promise<void>;
  /** Nothing was saved for this cluster yet, and the owner has these objects in another one: they stay there. */
  leftElsewhere(message: string): Promise<void>;
}

/** The objects that an owner has in the cluster, as far as known before a run. */
export interface KnownInventory {
  readonly entries: readonly InventoryEntry[];
  /**
   * Some entries come from the status only, or the inventory was saved under another generation: it has to be saved before
   * anything is written. A deletion of the owner need not save it: the status stays until the end.
   */
  readonly isAhead: boolean;
}

/**
 * The saved inventory, and the entries that only the status has. Without a saved inventory the status names what Flux applied, or what was
 * applied before the table was lost. With a saved inventory it names objects that were applied after the table's backup was made, or by
 * Flux meanwhile.
 *
 * @throws Failure `ReconciliationFailed` if an id in the status cannot be parsed and nothing is saved
 */
export async function knownInventory(
  own: OwnStatus,
  report: InventoryReport,
  set: ApplySet,
  signal: AbortSignal,
): Promise<KnownInventory> {
  const { entries: saved, isCurrent } = await savedInventory(own, report, set, signal);
  const shown = saved !== undefined && own.isFinalizing ? [] : (own.status.inventory?.entries ?? []);
  const { entries, unreadable } = adoptedEntries(saved ?? [], shown);
  if (saved === undefined || entries.length > 0) {
    const others = await otherClusters(set, signal);
    if (saved === undefined && !own.isFinalizing) await reportLeft(others, report, set, signal);
    // The status does not name its cluster, so a name in it may belong to another object here.
    if (others.length > 0) return { entries: saved ?? [], isAhead: !isCurrent };
  }
  const [wrong] = unreadable;
  if (wrong !== undefined) {
    const message = `unable to parse stored object metadata: ${wrong}`;
    if (saved === undefined) throw new Failure("ReconciliationFailed", message);
    report.unreadable(message);
  }
  return { entries: [...(saved ?? []), ...entries], isAhead: entries.length > 0 || !isCurrent };
}

/** The other clusters in which the owner has an inventory: those that it applied to before. */
async function otherClusters(
  { fence, inventories, owner }: Pick<ApplySet, "fence" | "inventories" | "owner">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const clusters = await inventories.clusters(owner, fence, signal);
  return clusters.filter((uid) => uid !== owner.clusterUid);
}

async function reportLeft(
  clusters: readonly string[],
  report: InventoryReport,
  { fence, inventories, owner }: ApplySet,
  signal: AbortSignal,
): Promise<void> {
  for (const clusterUid of clusters) {
    const entries = (await inventories.load({ ...owner, clusterUid }, fence, signal)) ?? [];
    if (entries.length === 0) continue;
    const names = someOf(
      entries.map(({ id }) => subject(parseEntryId(id))),
      maxNamed,
    );
    await report.leftElsewhere(
      `applies to another cluster from now on. What it has in the former one, known as ${clusterUid}, stays there: ${names}. ` +
        "A cluster whose certificate authority was replaced, or that no longer tells its uid, is taken for another one: then objects that " +
        "are still wanted are in use, and have to stay. Delete by hand what is not needed",
    );
  }
}

/**
 * Saves the inventory under the present generation. Called before a status names a generation under which nothing was applied: otherwise
 * the saved inventory would look older than that generation from then on. Saves nothing if nothing was saved before.
 */
export async function saveUnderGeneration(
  own: OwnStatus,
  report: InventoryReport,
  set: ApplySet,
  signal: AbortSignal,
): Promise<void> {
  const { entries, isCurrent } = await savedInventory(own, report, set, signal);
  if (entries !== undefined && !isCurrent) await set.inventories.save(set.owner, entries, set.fence, signal);
}

/** The saved inventory, without the objects that were let go since, and whether it was saved under the present generation. */
async function savedInventory(
  own: OwnStatus,
  report: InventoryReport,
  set: ApplySet,
  signal: AbortSignal,
): Promise<{ readonly entries: readonly InventoryEntry[] | undefined; readonly isCurrent: boolean }> {
  const { fence, inventories, owner } = set;
  const entries = await inventories.load(owner, fence, signal);
  if (entries === undefined) return { entries, isCurrent: false };
  const savedUnder = await inventories.savedUnder(owner, fence, signal);
  if (savedUnder === undefined || !isOlderInventory(savedUnder, own.status, own.generation)) {
    return { entries, isCurrent: savedUnder === own.generation };
  }
  return { entries: await retainLetGo(entries, savedUnder, own, report, set, signal), isCurrent: false };
}

const maxNamed = 10;

/**
 * An inventory that is older than the status, with the entries missing from the status as `retained`: `prune: false` or Flux released them
 * since, and a user may rely on them. Only objects that a prune would delete, now or once their next owner changes its mind, are named and
 * retained. The others are gone or kept for another reason, and this run's prune decides about them.
 *
 * @throws Outage if one of them cannot be read: a save would carry the present generation, and a later prune would delete it
 */
async function retainLetGo(
  saved: readonly InventoryEntry[],
  savedUnder: number,
  { status: { observedGeneration, inventory } }: OwnStatus,
  report: InventoryReport,
  set: ApplySet,
  signal: AbortSignal,
): Promise<readonly InventoryEntry[]> {
  const shown = new Set((inventory?.entries ?? []).map(({ id }) => id));
  const absent = new Set(saved.filter(({ id }) => !shown.has(id)).map(({ id }) => id));
  const before = { ...set, owner: { ...set.owner, generation: savedUnder } };
  const facts = {
    isFinalizing: true,
    inventory: saved,
    wanted: placed(saved, ({ id }) => !absent.has(id)),
    live: new Map(),
  };
  const decisions = decidePrune(await gatherFacts({ ...facts, policy: "prune" }, before, signal));
  for (const one of decisions) if (one.kind === "unknown") throw new Outage("ReconciliationFailed", one.line);
  const letGo = new Set(decisions.filter(isDeletedSometime).map(({ entry }) => entry.id));
  if (letGo.size === 0) return saved;
  const names = someOf(
    [...letGo].map((id) => subject(parseEntryId(id))),
    maxNamed,
  );
  await report.outdated(
    `the saved inventory is of generation ${savedUnder}, the status of generation ${observedGeneration}, which no longer has ` +
      `${names}: not pruned, since it was let go meanwhile. Delete it by hand if it is not needed`,
  );
  // Saved at once, so that it is reported once, however often the rest of the run is repeated.
  const wanted = placed(saved, ({ id }) => !letGo.has(id));
  const order = { ...facts, isFinalizing: false, wanted, policy: "retain", saved, planned: [] } as const;
  return (await prune(order, before, signal)).inventory;
}

/** A hand-over counts too: the object is deleted if its next owner changes its mind. */
function isDeletedSometime(decision: PruneDecision): boolean {
  return decision.kind === "handOver" || (decision.kind === "delete" && !decision.isTerminating);
}

function placed(entries: readonly InventoryEntry[], matches: (entry: InventoryEntry) => boolean): readonly Placed[] {
  return entries.filter(matches).map(({ id }) => ({ ref: parseEntryId(id) }));
}

/**
 * The inventory to save before the first write: all existing entries and all planned ones. If a run is killed at any point after that, the
 * next run finds every object. Undefined if nothing is new.
 */
export function inventoryAhead(
  before: readonly InventoryEntry[],
  desired: readonly DesiredObject[],
): readonly InventoryEntry[] | undefined {
  const known = new Map(before.map((entry) => [entry.id, entry]));
  const planned = desired
    .filter(({ id }) => !known.has(id) || known.get(id)?.state === "retained")
    .map(({ id, ref }): InventoryEntry => ({ id, version: ref.version, state: "planned" }));
  if (planned.length === 0) return undefined;
  const ids = new Set(planned.map(({ id }) => id));
  return [...before.filter(({ id }) => !ids.has(id)), ...planned];
}

/** The inventory after a run, with its results in place of the earlier entries. Everything else stays. */
export function withApplied(
  before: readonly InventoryEntry[],
  applied: readonly AppliedObject[],
): readonly InventoryEntry[] {
  const ids = new Set(applied.map(({ entry }) => entry.id));
  return [...applied.map(({ entry }) => entry), ...before.filter(({ id }) => !ids.has(id))];
}

/**
 * Before the first write it saves old and planned entries and then claims the new ones: if a run is killed later, the next one finds every
 * object. An entry that only the status has and that is not wanted is not claimed: it may belong to another owner.
 *
 * @returns the inventory as it is saved now
 */
export async function writeAhead(
  { entries, isAhead }: KnownInventory,
  desired: readonly DesiredObject[],
  { claimName, fence, inventories, ledger, owner }: ApplySet,
  signal: AbortSignal,
): Promise<readonly InventoryEntry[]> {
  const planned = inventoryAhead(entries, desired);
  const ahead = planned ?? entries;
  if (planned !== undefined || isAhead) await inventories.save(owner, ahead, fence, signal);
  const wanted = new Set(desired.map(({ id }) => id));
  const claims = ahead
    .filter(({ id, state }) => state === "planned" && wanted.has(id))
    .map(({ id }) => ({ id, ownerUid: owner.uid, owner: claimName }));
  if (claims.length > 0) await ledger.claim(owner.clusterUid, claims, fence, signal);
  return ahead;
}

/** Saves the inventory unless it is the one that is saved. */
export async function saveIfChanged(
  saved: readonly InventoryEntry[],
  inventory: readonly InventoryEntry[],
  { fence, inventories, owner }: ApplySet,
  signal: AbortSignal,
): Promise<void> {
  if (!equal(saved, inventory)) await inventories.save(owner, inventory, fence, signal);
}
