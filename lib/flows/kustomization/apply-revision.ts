import { applyAll, type Pending } from "../../apply/apply-all.ts";
import type { AppliedObject } from "../../apply/apply-object.ts";
import { type DesiredObject, desiredObjects } from "../../apply/desired-objects.ts";
import { type LiveObjects, liveObjects } from "../../apply/live-objects.ts";
import { inventoryAhead, withApplied } from "../../apply/next-inventory.ts";
import { changesAnything, type Plan } from "../../apply/plan.ts";
import { planObjects } from "../../apply/plan-objects.ts";
import { unwantedOf } from "../../apply/prune/gather-facts.ts";
import type { Pruned } from "../../apply/prune/pruned.ts";
import { terminatingText } from "../../apply/terminating-text.ts";
import { allEnded } from "../../core/all-ended.ts";
import { equal } from "../../core/equal.ts";
import { Failure } from "../../core/failure.ts";
import type { Manifest } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { countApplied } from "./count-objects.ts";
import { inventoryOf, type KnownInventory } from "./inventory-of.ts";
import { logSkippedApplies } from "./log-skipped.ts";
import { planPrune, pruneRevision } from "./prune-revision.ts";
import type { ResolvedSource } from "./resolve-source.ts";
import { type ServedRef, servedRefs } from "./served-refs.ts";
import { replaceDeps } from "./standing.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** What the cluster looks like after plan, apply and prune. */
export interface AppliedRevision {
  /** What needs time before the rest can be applied, or before what is applied can stay. */
  readonly pending: Pending | undefined;
  readonly applied: readonly AppliedObject[];
  readonly pruned: readonly Pruned[];
  /** Why nothing was pruned, where something found its way meanwhile into what would go. */
  readonly pruneRefusals: readonly string[];
  readonly inventory: readonly InventoryEntry[];
  readonly live: LiveObjects;
}

/** An object could not be applied; `applied` is what was done before, `inventory` what there is with it. */
export class ApplyFailed extends Failure {
  readonly applied: readonly AppliedObject[];
  readonly inventory: readonly InventoryEntry[];

  constructor(message: string, applied: readonly AppliedObject[], inventory: readonly InventoryEntry[]) {
    super("ReconciliationFailed", message);
    this.applied = applied;
    this.inventory = inventory;
  }
}

interface Circumstances {
  readonly source: ResolvedSource;
  /** Told before the first write to a managed object, so that nobody sees a change under an old Ready condition. */
  readonly beforeFirstWrite: (plan: Plan) => Promise<void>;
  /** Whether an earlier run applied this revision and still waits for it. */
  readonly isAwaited: boolean;
}

/**
 * Plan, apply, prune. Nothing is written before the whole plan stands (ADR 0005 has the one exception); the inventory is written
 * ahead of the first object.
 *
 * @throws Failure `ReconciliationFailed`, an {@link ApplyFailed} once there are writes; the inventory is right whenever it throws
 */
export async function applyRevision(
  manifests: readonly Manifest[],
  of: SubjectOfRun,
  { source, beforeFirstWrite, isAwaited }: Circumstances,
): Promise<AppliedRevision> {
  const { cluster, deps, kustomization, run } = of;
  const { force } = kustomization.spec;
  const known = await inventoryOf(of);
  const before = known.entries;
  const desired = await desiredObjects(manifests, { cluster, installationKey: deps.installationKey }, run.signal);
  const live = await liveObjects(await refsToList(desired, unwantedOf(before, desired), of), of, cluster, run.signal);
  const revision = { source, desired, live };
  const toPrune = await planPrune(before, revision, of);
  const refusals = toPrune.flatMap((decision) => (decision.kind === "refuse" ? [decision.line] : []));
  const applyDeps = {
    cluster,
    clock: deps.clock,
    force,
    concurrency: deps.concurrency,
    installationKey: deps.installationKey,
    replacing: replaceDeps(before, of),
  };
  const planning = await planObjects(desired, before, live, { ...applyDeps, isAwaited }, run.signal);
  const messages = [...refusals, ...(planning.kind === "refused" ? planning.messages : [])];
  if (planning.kind === "refused" || messages.length > 0) {
    // A namespace that moves is the other's in a moment, and one that is to go with another Kustomization is free once that is gone.
    throw new Failure("ReconciliationFailed", lines(messages), refusals.length > 0 ? { retry: "backoff" } : {});
  }
  const plan: Plan = { objects: planning.objects, prune: toPrune };
  const [ahead] = await allEnded([
    writeAhead(known, desired, of),
    changesAnything(plan) ? beforeFirstWrite(plan) : Promise.resolve(),
  ]);
  const outcome = await applyAll(plan.objects, applyDeps, run.signal);
  countApplied(outcome.applied, of);
  logSkippedApplies(outcome.applied, live, of);
  const now = withApplied(ahead, outcome.applied);
  if (outcome.kind === "failed") {
    await saveIfChanged(ahead, now, of);
    throw new ApplyFailed(lines([outcome.message, ...changeLines(outcome.applied)]), outcome.applied, now);
  }
  if (outcome.kind === "waiting") {
    await saveIfChanged(ahead, now, of);
    const { applied, why, on } = outcome;
    return { pending: { why, on }, applied, pruned: [], pruneRefusals: [], inventory: now, live };
  }
  const { pruned, refusals: pruneRefusals, inventory } = await pruneRevision(plan.prune, now, ahead, revision, of);
  const pending = pendingAtEnd(outcome.applied, of);
  return { pending, applied: outcome.applied, pruned, pruneRefusals, inventory, live };
}

/** What is being deleted although it is wanted. With `wait` it is not healthy, which says the same in Flux's words. */
function pendingAtEnd(applied: readonly AppliedObject[], { kustomization }: SubjectOfRun): Pending | undefined {
  const why = kustomization.spec.wait ? undefined : terminatingText(applied);
  return why === undefined ? undefined : { why, on: "deletion" };
}

/** `<subject> created` and `<subject> configured`, in apply order: Flux's change event. */
export function changeLines(applied: readonly AppliedObject[]): readonly string[] {
  return applied
    .filter(({ change }) => change === "created" || change === "configured")
    .map(({ desired, change }) => `${subject(desired.ref)} ${change}`);
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join("");
}

/** The kinds and namespaces of all that is wanted or owned; what is served no more has no objects to list. */
async function refsToList(
  desired: readonly DesiredObject[],
  unwanted: readonly InventoryEntry[],
  of: SubjectOfRun,
): Promise<readonly ServedRef[]> {
  const wanted = desired.flatMap(({ ref, resource }) => (resource === undefined ? [] : [{ ref, resource }]));
  return [...wanted, ...(await servedRefs(unwanted, of))];
}

/**
 * Writes old and planned entries, then claims what is new: a run killed later leaves nothing that cannot be found. What only
 * the status names and nobody here wants is not claimed: it may be another's.
 */
async function writeAhead(
  { entries, isAhead }: KnownInventory,
  desired: readonly DesiredObject[],
  { deps, owner, name, namespace, run }: SubjectOfRun,
): Promise<readonly InventoryEntry[]> {
  const planned = inventoryAhead(entries, desired);
  const ahead = planned ?? entries;
  if (planned !== undefined || isAhead) await deps.inventories.save(owner, ahead, run.fence, run.signal);
  const wanted = new Set(desired.map(({ id }) => id));
  const claims = ahead
    .filter(({ id, state }) => state === "planned" && wanted.has(id))
    .map(({ id }) => ({ id, ownerUid: owner.uid, owner: `Kustomization/${namespace}/${name}` }));
  if (claims.length > 0) await deps.ledger.claim(owner.clusterUid, claims, run.fence, run.signal);
  return ahead;
}

async function saveIfChanged(
  before: readonly InventoryEntry[],
  after: readonly InventoryEntry[],
  { deps, owner, run }: SubjectOfRun,
): Promise<void> {
  if (!equal(before, after)) await deps.inventories.save(owner, after, run.fence, run.signal);
}
