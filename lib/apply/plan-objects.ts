import { mapLimit } from "../core/concurrency.ts";
import { toJsonObject } from "../core/json.ts";
import { type ObjectRef, subject } from "../core/object-ref.ts";
import type { InventoryEntry } from "../core/ports/inventory-store.ts";
import type { DesiredObject } from "./desired-objects.ts";
import { type DryRun, type DryRunDeps, dryRun, type Refused } from "./dry-run.ts";
import { dryRunElsewhere } from "./dry-run-elsewhere.ts";
import { atThisLook, type FirstLook, type FirstLookDeps, firstLooks, type Plan, type PlannedObject } from "./plan.ts";
import { dryRunMessage, isAboutFields, isUnserved } from "./refusals.ts";
import { schemaFaults } from "./schema-faults.ts";
import { stageOf, stages } from "./set/apply-order.ts";
import { type CascadeScope, cascadeScopeOf, isWithin } from "./set/cascade-scope.ts";
import type { LiveObjects } from "./set/live-objects.ts";

export interface PlanDeps extends DryRunDeps {
  readonly concurrency: number;
}

/** The applies of a plan, or why it is refused: every object that the API server refuses, in its words. */
export type Planning =
  | { readonly kind: "planned"; readonly objects: Plan["objects"] }
  | { readonly kind: "refused"; readonly refused: readonly RefusedObject[] };

/** An object that the API server refuses. */
export interface RefusedObject extends Refused {
  readonly ref: ObjectRef & { readonly version: string };
}

type Looked = { readonly desired: DesiredObject; readonly look: FirstLook };

/**
 * Plans a whole set before anything is written: it proves objects unchanged if it can, and dry-runs all others whose kind and namespace
 * exist, across all stages. So a bad object fails the revision before a part of it is applied. An object that needs a definition or
 * namespace of the set is checked against the definition's schema or in another namespace, and has its own dry run at its stage.
 */
export async function planObjects(
  desired: readonly DesiredObject[],
  inventory: readonly InventoryEntry[],
  live: LiveObjects,
  deps: PlanDeps & FirstLookDeps,
  signal: AbortSignal,
): Promise<Planning> {
  const looks = firstLooks(desired, inventory, live, deps);
  // Namespaces first: what they answer says which other objects can have their dry run at all.
  const namespaces = await judge(looks.filter(isNamespace), [], deps, signal);
  const missing = [
    ...namespaces.filter(({ change }) => change.kind === "create" || change.kind === "terminating"),
    ...looks.filter(({ desired: { id } }) => live.get(id)?.metadata.deletionTimestamp !== undefined),
  ].flatMap(({ desired: { ref } }) => cascadeScopeOf(ref) ?? []);
  const others = await judge(
    looks.filter((looked) => !isNamespace(looked)),
    missing,
    deps,
    signal,
  );
  const entries = new Map(inventory.map((entry) => [entry.id, entry]));
  const judged = withLaterStages([...namespaces, ...others], deps).map(({ desired: one, change }): Judged => {
    return { desired: one, change: atThisLook(one, change, entries.get(one.id), deps) };
  });
  const { objects, refusals } = outcomesOf(judged);
  if (refusals.length > 0) return { kind: "refused", refused: refusals };
  const changes = new Map(objects.map((object) => [object.desired.id, object]));
  return {
    kind: "planned",
    objects: desired.map(({ id }) => changes.get(id)).filter((object) => object !== undefined),
  };
}

/**
 * Defers objects that were refused because something is missing that an earlier stage creates: a RoleBinding whose ClusterRole is new, a
 * Pod of a new PriorityClass. The API server names it. An object of the installation's own stage may create anything, so any refusal that
 * is not about fields may be for lack of it.
 */
function withLaterStages(judged: readonly Judged[], { rules }: PlanDeps): readonly Judged[] {
  const stageIndex = ({ desired }: Judged) => stages.indexOf(stageOf(desired.ref, rules));
  const coming = judged.filter(({ change }) => brings.has(change.kind));
  const isFoundLater = (one: Judged, { error }: Refused) => {
    if (error === undefined || isAboutFields(error)) return false;
    return coming.some(
      (other) =>
        stageIndex(other) < stageIndex(one) &&
        (stageOf(other.desired.ref, rules) === "custom" || names(error.message, other.desired.ref.name)),
    );
  };
  return judged.map((one) =>
    one.change.kind === "refused" && isFoundLater(one, one.change)
      ? { desired: one.desired, change: { kind: "deferred" } }
      : one,
  );
}

const brings: ReadonlySet<DryRun["kind"]> = new Set(["configure", "create", "deferred", "replace"]);

/** Whether a text has the name as a word of its own. */
function names(text: string, name: string): boolean {
  return text.split(/[^A-Za-z0-9.:_-]+/).includes(name);
}

/** The objects of a stage with what is planned for them, or why there can be no plan. */
export type StagePlanning =
  | { readonly kind: "planned"; readonly objects: readonly PlannedObject[] }
  | { readonly kind: "refused"; readonly message: string }
  /** The API server does not serve the kinds of the definitions in the set yet: what has these kinds is still deferred. */
  | { readonly kind: "unserved"; readonly message: string; readonly objects: readonly PlannedObject[] };

/** Gives the deferred objects of a stage their dry run, now that the stages before it are in the cluster. */
export async function planDeferred(
  members: readonly PlannedObject[],
  deps: PlanDeps,
  signal: AbortSignal,
): Promise<StagePlanning> {
  const waiting = members.filter(({ change }) => change.kind === "deferred");
  const looks = waiting.map(({ desired }): Looked => ({ desired, look: { kind: "unproven", live: undefined } }));
  const judged = await judge(looks, undefined, deps, signal);
  const refused = outcomesOf(judged.filter((one) => !isStillUnserved(one))).refusals;
  if (refused.length > 0) return { kind: "refused", message: messages(refused) };
  const { objects, refusals: unserved } = outcomesOf(judged);
  const changes = new Map(objects.map((object) => [object.desired.id, object]));
  const known = members.map((member) => changes.get(member.desired.id) ?? member);
  return unserved.length > 0
    ? { kind: "unserved", message: messages(unserved), objects: known }
    : { kind: "planned", objects: known };
}

function messages(refusals: readonly Refused[]): string {
  return refusals.map(({ message }) => message).join("\n");
}

function isStillUnserved({ desired, change }: Judged): boolean {
  return change.kind === "refused" && isUnserved(desired, change.error);
}

interface Judged {
  readonly desired: DesiredObject;
  readonly change: DryRun;
}

function outcomesOf(judged: readonly Judged[]) {
  const objects: PlannedObject[] = [];
  const refusals: RefusedObject[] = [];
  for (const { desired, change } of judged) {
    if (change.kind === "refused") refusals.push({ ...change, ref: desired.ref });
    else objects.push({ desired, change });
  }
  return { objects, refusals };
}

/**
 * @param missing namespaces that the set itself creates, and those that must be deleted and created again first; undefined: nothing is
 * deferred any more
 */
async function judge(
  looks: readonly Looked[],
  missing: readonly CascadeScope[] | undefined,
  deps: PlanDeps,
  signal: AbortSignal,
): Promise<readonly Judged[]> {
  return mapLimit(
    looks,
    deps.concurrency,
    async ({ desired, look }, stop): Promise<Judged> => {
      if (look.kind !== "unproven") return { desired, change: look };
      const { ref, resource } = desired;
      const isEarly =
        missing !== undefined &&
        (resource === undefined || missing.some((scope) => isWithin(ref, resource.plural, scope)));
      if (isEarly) return { desired, change: await judgeEarly(desired, deps, stop) };
      const judged = { desired, change: await dryRun(desired, look.live, deps, stop) };
      return missing !== undefined && isStillUnserved(judged) ? { desired, change: { kind: "deferred" } } : judged;
    },
    signal,
  );
}

/** The namespace in which a deferred object of a served kind is tried: every cluster has it. */
const elsewhereNamespace = "default";

/**
 * Checks an object before its definition or namespace exists: by the definition's own schema, or by a dry run in another namespace. Its
 * real dry run comes at its stage.
 */
async function judgeEarly(desired: DesiredObject, deps: PlanDeps, signal: AbortSignal): Promise<DryRun> {
  if (desired.resource === undefined) {
    const faults = schemaFaults(toJsonObject(desired.manifest), desired.schema ?? openSchema);
    if (faults.length === 0) return { kind: "deferred" };
    return { kind: "refused", message: `${subject(desired.ref)} dry-run failed (Invalid): ${faults.join(", ")}` };
  }
  const refusal = await dryRunElsewhere(desired, elsewhereNamespace, deps, signal);
  if (refusal === undefined || !isAboutFields(refusal)) return { kind: "deferred" };
  return { kind: "refused", message: dryRunMessage(desired, refusal) };
}

/** For a definition without a schema: anything goes. */
const openSchema = { "x-kubernetes-preserve-unknown-fields": true } as const;

function isNamespace({ desired: { ref } }: Looked): boolean {
  return ref.group === "" && ref.kind === "Namespace";
}
