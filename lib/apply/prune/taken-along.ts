import { kustomizeGroup } from "../../api/names.ts";
import { type ObjectRef, refKey, subject } from "../../core/object-ref.ts";
import { someOf } from "../../core/some-of.ts";
import { byApplyOrder } from "../apply-order.ts";
import { formatEntryId } from "../entry-id.ts";
import { type Extent, extentOf, isWithin } from "../extent.ts";
import type { PruneDecision } from "./decisions.ts";
import type { EntryFacts, OwnerNearby, Placed, PruneFacts } from "./facts.ts";

/** An object that is to stay. */
export interface Staying extends Placed {
  /** Whose it is, as `Kustomization/namespace/name`, where it is not our own. */
  readonly owner?: string | undefined;
  /** What keeps it from being pruned, where the artifact does not want it. */
  readonly why?: string | undefined;
}

type DecidedEntry = EntryFacts & { readonly decision: PruneDecision };

/**
 * Why what is to be deleted may not be, by entry id: a line for each namespace or definition with which something would go
 * that is to stay: what the owner wants, what another owner that lives on has or is about to have, such an owner itself, and what
 * the prune leaves alone (ADR 0007). Pure.
 */
export function refusals(decided: readonly DecidedEntry[], facts: PruneFacts): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  const going = decided.filter(({ decision }) => decision.kind === "delete" && !decision.isGoing);
  const goingIds = new Set(going.map(({ entry }) => entry.id));
  const wanted = inOrder(facts.wanted);
  const others = [...inOrder<Staying>(facts.expected), ...inOrder<Staying>(livingOn(facts.owners, goingIds))];
  const left = decided.flatMap(stayingOf);
  for (const { entry, ref } of going) {
    const extent = extentOf(ref);
    if (extent === undefined) continue;
    const staying = [
      ...wanted.filter((one) => isIn(one, extent)),
      // That others have the namespace or definition itself concerns it too: where they also have a claim in the ledger it is
      // handed over, but Flux makes none.
      ...others.filter((one) => formatEntryId(one.ref) === entry.id || isIn(one, extent)),
      ...left.filter((one) => isIn(one, extent)),
    ];
    if (staying.length > 0) lines.set(entry.id, refusal(ref, eachOnce(staying)));
  }
  return lines;
}

/** Why a namespace or definition may not be pruned, and what to do about it. Pure. */
export function refusal(ref: ObjectRef, staying: readonly Staying[]): string {
  const names = staying.map(({ ref: each, owner, why }) => {
    return `${subject(each)}${owner === undefined ? "" : ` of ${owner}`}${why === undefined ? "" : ` (${why})`}`;
  });
  return (
    `${subject(ref)} prune refused: it would take along what is still wanted: ${someOf(names)}; ` +
    `put it back, take that out too, or annotate it with ${kustomizeGroup}/prune: disabled to keep it`
  );
}

/** The owners that live on, and what all but our own have. An owner that this prune deletes with all it has does not count. */
function livingOn(owners: readonly OwnerNearby[], goingIds: ReadonlySet<string>): readonly Staying[] {
  return owners
    .filter(({ ref, isGoing, takesAlong }) => !isGoing && !(takesAlong && goingIds.has(formatEntryId(ref))))
    .flatMap(({ ref, plural, isSelf, has }) => {
      const owner = subject(ref);
      return [{ ref, plural }, ...(isSelf ? [] : has.map((one) => ({ ...one, owner })))];
    });
}

/** What this prune leaves in the cluster. What is on its way out goes in any case. */
function stayingOf({ ref, object, decision }: DecidedEntry): readonly Staying[] {
  if (decision.kind === "gone" || decision.kind === "delete") return [];
  if (object.kind === "unknown") return [{ ref, why: "it cannot be looked at" }];
  if (object.kind !== "there") return [];
  if (object.metadata.deletionTimestamp !== undefined) return [];
  return [{ ref, plural: object.plural, ...("why" in decision ? { why: decision.why } : {}) }];
}

function isIn({ ref, plural }: Placed, extent: Extent): boolean {
  return isWithin(ref, plural, extent);
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
