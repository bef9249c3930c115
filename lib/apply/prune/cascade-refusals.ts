import { kustomizeGroup } from "../../api/names.ts";
import { someOf } from "../../core/cut-text.ts";
import { type ObjectRef, refKey, subject } from "../../core/object-ref.ts";
import { byApplyOrder } from "../set/apply-order.ts";
import type { OwnerNearby, Placed } from "../set/apply-set.ts";
import { type CascadeScope, cascadeScopeOf, isWithin } from "../set/cascade-scope.ts";
import { formatEntryId } from "../set/entry-id.ts";
import type { PruneDecision } from "./decisions.ts";
import type { EntryFacts, PruneFacts } from "./facts.ts";

/** An object that must stay. */
export interface Staying extends Placed {
  /** Its owner, as `Kustomization/namespace/name`, if that is another. */
  readonly owner?: string | undefined;
  /** Why it is not pruned, if the artifact does not want it. */
  readonly why?: string | undefined;
}

export type DecidedEntry = EntryFacts & { readonly decision: PruneDecision };

type Around = Pick<PruneFacts, "expected" | "owners" | "wanted">;

/** The prune candidates that may not be deleted, by entry id, with the reason. Pure. */
export function refusals(decided: readonly DecidedEntry[], facts: Around): ReadonlyMap<string, string> {
  const refs = new Map(decided.map(({ entry, ref }) => [entry.id, ref]));
  return new Map(
    [...takenAlong(decided, facts)].flatMap(([id, staying]) => {
      const ref = refs.get(id);
      return ref === undefined ? [] : [[id, refusal(ref, staying)] as const];
    }),
  );
}

/**
 * The objects among these whose deletion (of a namespace or definition) would cascade to an object that must stay (wanted, owned or
 * expected by another owner, or kept by this prune), by their entry id. ADR 0007. Pure.
 */
export function takenAlong(decided: readonly DecidedEntry[], facts: Around): ReadonlyMap<string, readonly Staying[]> {
  const found = new Map<string, readonly Staying[]>();
  const deleted = decided.filter(({ decision }) => decision.kind === "delete" && !decision.isTerminating);
  const deletedIds = new Set(deleted.map(({ entry }) => entry.id));
  const wanted = inOrder(facts.wanted);
  const others = [...inOrder<Staying>(facts.expected), ...inOrder<Staying>(stayingOwners(facts.owners, deletedIds))];
  const left = decided.flatMap(stayingOf);
  for (const { entry, ref } of deleted) {
    const scope = cascadeScopeOf(ref);
    if (scope === undefined) continue;
    const staying = [
      ...wanted.filter((one) => isIn(one, scope)),
      // Another owner may have the namespace or definition itself. With a claim in the ledger it would be handed over, but Flux
      // makes no claims.
      ...others.filter((one) => formatEntryId(one.ref) === entry.id || isIn(one, scope)),
      ...left.filter((one) => isIn(one, scope)),
    ];
    if (staying.length > 0) found.set(entry.id, eachOnce(staying));
  }
  return found;
}

/** Why a namespace or definition may not be pruned, and what to do about it. Pure. */
export function refusal(ref: ObjectRef, staying: readonly Staying[]): string {
  return (
    `${subject(ref)} prune refused: ${wouldTakeAlong(staying)}; ` +
    `put it back, take that out too, or annotate it with ${kustomizeGroup}/prune: disabled to keep it`
  );
}

/** Why a namespace or definition has to stay. Pure. */
export function wouldTakeAlong(staying: readonly Staying[]): string {
  const names = staying.map(({ ref: each, owner, why }) => {
    return `${subject(each)}${owner === undefined ? "" : ` of ${owner}`}${why === undefined ? "" : ` (${why})`}`;
  });
  return `it would also delete objects that are still wanted: ${someOf(names)}`;
}

/** The owners that stay, and their objects. An owner that this prune deletes with its objects does not count. */
function stayingOwners(owners: readonly OwnerNearby[], deletedIds: ReadonlySet<string>): readonly Staying[] {
  return owners
    .filter(({ ref, isTerminating, cascades }) => !isTerminating && !(cascades && deletedIds.has(formatEntryId(ref))))
    .flatMap(({ ref, plural, isSelf, has }) => {
      const owner = subject(ref);
      return [{ ref, plural }, ...(isSelf ? [] : has.map((one) => ({ ...one, owner })))];
    });
}

/** The object, if this prune leaves it in the cluster. A terminating object goes in any case. */
function stayingOf({ ref, object, decision }: DecidedEntry): readonly Staying[] {
  if (decision.kind === "gone" || decision.kind === "delete") return [];
  if (object.kind === "unknown") return [{ ref, why: "it cannot be looked at" }];
  if (object.kind !== "there") return [];
  if (object.metadata.deletionTimestamp !== undefined) return [];
  return [{ ref, plural: object.plural, ...("why" in decision ? { why: decision.why } : {}) }];
}

function isIn({ ref, plural }: Placed, scope: CascadeScope): boolean {
  return isWithin(ref, plural, scope);
}

function inOrder<One extends Staying>(staying: readonly One[]): readonly One[] {
  const key = ({ ref, owner = "" }: Staying) => `${refKey(ref)} ${owner}`;
  return staying.toSorted((a, b) => byApplyOrder(a.ref, b.ref) || (key(a) < key(b) ? -1 : 1));
}

function eachOnce(staying: readonly Staying[]): readonly Staying[] {
  const byId = new Map<string, Staying>();
  for (const one of staying) {
    const id = formatEntryId(one.ref);
    if (!byId.has(id)) byId.set(id, one);
  }
  return [...byId.values()];
}
