import { mapLimit } from "../core/concurrency.ts";
import { Failure } from "../core/failure.ts";
import type { Manifest } from "../core/manifest.ts";
import type { ObjectRef } from "../core/object-ref.ts";
import type { Resource } from "../core/ports/cluster.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { ApplyAllDeps } from "./apply-all.ts";
import { type DesiredObject, desiredObjects } from "./desired-objects.ts";
import { type IgnoreRule, type IgnoreRules, noIgnoreRules } from "./ignore/ignore-rules.ts";
import type { Plan } from "./plan.ts";
import { planObjects, type RefusedObject } from "./plan-objects.ts";
import { decidePrune } from "./prune/decide-prune.ts";
import { gatherFacts, type PruneTask, unwantedOf } from "./prune/gather-facts.ts";
import type { ReplaceDeps } from "./reason-not-to-replace.ts";
import type { ApplySet } from "./set/apply-set.ts";
import { parseEntryId } from "./set/entry-id.ts";
import { type LiveObjects, liveObjects } from "./set/live-objects.ts";

/** What an owner wants to apply, and what it has applied before. */
export interface WantedSet {
  readonly manifests: readonly Manifest[];
  /** Fields that an apply ignores. */
  readonly ignore: readonly IgnoreRule[];
  /** The objects that the owner has applied so far. */
  readonly inventory: readonly InventoryEntry[];
  /** Whether an object whose immutable field changes is deleted and created again. */
  readonly force: boolean;
  /** What happens to applied objects that the new manifests do not contain. */
  readonly policy: PruneTask["policy"];
  /** Whether an earlier run applied this set and still waits for its health. */
  readonly isAwaited: boolean;
  /** Whether this run only checks that health: it was not requested, and nothing has changed. */
  readonly isLook: boolean;
}

/** A plan, and the state of the cluster that it was made from. */
export interface PlannedSet {
  readonly plan: Plan;
  readonly desired: readonly DesiredObject[];
  readonly live: LiveObjects;
  readonly applyDeps: Omit<ApplyAllDeps, "healthRules">;
  readonly pruneTask: Omit<PruneTask, "inventory">;
}

/**
 * Plans the applies and prunes of a set. Writes nothing.
 *
 * @throws PlanRefused `ReconciliationFailed` with a line for each object that the API server refuses and each prune that is refused
 */
export async function planSet(
  { manifests, ignore, inventory, force, policy, isAwaited, isLook }: WantedSet,
  set: ApplySet,
  signal: AbortSignal,
): Promise<PlannedSet> {
  const { clock, cluster, concurrency, installationKey } = set;
  // As in Flux a malformed rule is not an error as long as there is nothing to apply.
  const rules = { ...set.rules, ignore: await compiled(manifests.length === 0 ? [] : ignore) };
  const desired = await desiredObjects(manifests, { cluster, installationKey, rules }, signal);
  await rules.ignore.prepare(
    desired.map(({ manifest }) => manifest),
    signal,
  );
  const wanted = desired.flatMap(({ ref, resource }) => (resource === undefined ? [] : [{ ref, resource }]));
  const unwanted = await servedRefs(unwantedOf(inventory, desired), set, signal);
  const live = await liveObjects([...wanted, ...unwanted], set, cluster, signal);
  const placed = desired.map(({ ref, resource }) => ({ ref, plural: resource?.plural }));
  const pruneTask = { policy, isFinalizing: false, wanted: placed, live };
  const prune = decidePrune(await gatherFacts({ ...pruneTask, inventory }, set, signal));
  const refusals = prune.flatMap((decision) => (decision.kind === "refuse" ? [decision.line] : []));
  const replacing = replaceDeps(inventory, set);
  const applyDeps = { cluster, clock, force, concurrency, installationKey, replacing, rules };
  const planning = await planObjects(desired, inventory, live, { ...applyDeps, isAwaited, isLook }, signal);
  const refused = planning.kind === "refused" ? planning.refused : [];
  if (planning.kind === "refused" || refusals.length > 0) throw new PlanRefused(refusals, refused);
  return { plan: { objects: planning.objects, prune }, desired, live, applyDeps, pruneTask };
}

/** A set cannot be applied: the API server refuses some objects, or some prunes are not allowed. */
export class PlanRefused extends Failure {
  readonly prunes: readonly string[];
  readonly objects: readonly RefusedObject[];

  constructor(prunes: readonly string[], objects: readonly RefusedObject[]) {
    const messages = [...prunes, ...objects.map(({ message }) => message)];
    // A refused prune may be allowed in a moment: another owner takes the namespace over, or deletes what is in it.
    super("ReconciliationFailed", linesOf(messages), prunes.length > 0 ? { retry: "backoff" } : {});
    this.prunes = prunes;
    this.objects = objects;
  }
}

/** Messages as the text of one condition, a line each. */
export function linesOf(messages: readonly string[]): string {
  return messages.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join("");
}

export interface ServedRef {
  readonly ref: ObjectRef;
  readonly resource: Resource;
}

/** The objects of these entries, with how the cluster serves their kind now. A kind that is no longer served has no objects. */
export async function servedRefs(
  entries: readonly InventoryEntry[],
  { cluster, concurrency }: Pick<ApplySet, "cluster" | "concurrency">,
  signal: AbortSignal,
): Promise<readonly ServedRef[]> {
  const found = await mapLimit(
    entries.map(({ id }) => parseEntryId(id)),
    concurrency,
    async (ref, stop) => ({ ref, resource: await cluster.resource({ group: ref.group, kind: ref.kind }, stop) }),
    signal,
  );
  return found.flatMap(({ ref, resource }) => (resource === undefined ? [] : [{ ref, resource }]));
}

/**
 * The parts of a forced replacement that find other owners of an object. They read the ledger for each object, not once for the run:
 * the decision is made again right before the delete.
 */
function replaceDeps(
  inventory: readonly InventoryEntry[],
  { labelGroup, ledger, name, namespace, others, owner, rules }: ApplySet,
): ReplaceDeps {
  return {
    owner: { name, namespace, labelGroup, kind: rules.style.kind },
    inventory,
    otherOwner: async (id, signal) => {
      const claims = await ledger.claims(owner.clusterUid, [id], signal);
      for (const claim of claims.get(id) ?? []) {
        if (claim.ownerUid !== owner.uid && (await others.stateOf(claim, signal)) === "alive") return claim.owner;
      }
      return undefined;
    },
  };
}

async function compiled(rules: readonly IgnoreRule[]): Promise<IgnoreRules> {
  if (rules.length === 0) return noIgnoreRules;
  const { compileIgnoreRules } = await import("./ignore/compile-ignore-rules.ts");
  return compileIgnoreRules(rules);
}
