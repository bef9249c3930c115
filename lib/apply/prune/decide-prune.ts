import type { Metadata } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { byApplyOrder } from "../set/apply-order.ts";
import { ownerOfClaim } from "../set/apply-set.ts";
import { formatEntryId } from "../set/entry-id.ts";
import { ownEntry } from "../set/field-managers.ts";
import { isAppliedBy } from "../set/give-up-fields.ts";
import { isOwnedBy } from "../set/opt-outs.ts";
import { refusals } from "./cascade-refusals.ts";
import type { KeepDecision, PruneDecision } from "./decisions.ts";
import type { Claimant, EntryFacts, PruneFacts } from "./facts.ts";

/**
 * Decides about each object of an inventory that the new manifests do not contain, in apply order. This is the only place that decides
 * about deletion: for a new revision, for the deletion of the owner, and for `policy: retain`. Pure; the order of the facts does not matter.
 *
 * An object that no owner wants is deleted by the owner in its labels, once no other live owner claims it (ADR 0015).
 */
export function decidePrune(facts: PruneFacts): readonly PruneDecision[] {
  const wanted = new Set(facts.wanted.map(({ ref }) => formatEntryId(ref)));
  const unwanted = facts.entries
    .filter(({ entry }) => !wanted.has(entry.id))
    .toSorted((a, b) => byApplyOrder(a.ref, b.ref));
  const expected = new Map(
    facts.expected.toSorted((a, b) => (a.owner < b.owner ? 1 : -1)).map((one) => [formatEntryId(one.ref), one.owner]),
  );
  const decided = unwanted.map((one) => ({ ...one, decision: decideOne(one, expected.get(one.entry.id), facts) }));
  const lines = facts.policy === "prune" && !facts.isFinalizing ? refusals(decided, facts) : new Map<string, string>();
  return decided
    .filter(({ entry }) => entry.state !== "retained")
    .map(({ entry, decision }) => {
      const line = lines.get(entry.id);
      return line === undefined ? decision : { kind: "refuse", entry, line };
    });
}

/** The checks before a delete, in order; each says why the object stays. */
function decideOne(
  { entry, ref, object, claimants }: EntryFacts,
  expectedBy: string | undefined,
  { clusterUid, isFinalizing, owner, policy }: PruneFacts,
): PruneDecision {
  const unknown = (message: string) => ({ kind: "unknown", entry, line: `${subject(ref)} ${message}` }) as const;
  if (clusterUid !== owner.clusterUid) {
    return unknown(`not pruned: the inventory is of cluster ${owner.clusterUid}, and this is ${clusterUid}`);
  }
  const alive = claimants.filter(({ state }) => state === "alive");
  const keep = (why: string, isRetained: boolean): KeepDecision => {
    const metadata = object.kind === "there" ? object.metadata : undefined;
    const isAwaited = alive.length > 0 && !isOwnedBy(metadata, owner);
    const hasOtherLabels = metadata !== undefined && !isOwnedBy(metadata, owner);
    return {
      kind: "keep",
      entry,
      why,
      isRetained,
      isAwaited,
      hasOtherLabels,
      labelled: labelledBy(metadata, claimants),
    };
  };
  if (entry.state === "retained") return keep("kept when it left the artifact", true);
  if (policy === "retain") return keep("nothing is to be pruned", true);
  if (object.kind === "unknown") {
    // The deleted objects may include the account's own rights, and a deleted owner has no later run that could find out more.
    const isDeleted = isFinalizing && entry.state === "deleting" && object.isForbidden === true;
    return { ...unknown(object.message), ...(isDeleted ? { isDeleted } : {}) };
  }
  if (object.kind === "unasked") return unknown("query failed: the cluster was not asked");
  if (object.kind === "gone") return { kind: "gone", entry };
  const { metadata, version } = object;
  const checked = { ref: { ...ref, version }, metadata };
  if (!isOwnedBy(metadata, owner)) return keep("its owner labels name another owner", false);
  const taker = alive.find(({ owner: by }) => isAppliedBy(by, metadata, owner));
  if (taker !== undefined) {
    return { ...keep(`${taker.owner} has applied it`, false), isAwaited: true, givesUp: checked };
  }
  const mark = owner.style.optOuts.keptBy(metadata);
  const isForeign = entry.uid !== metadata.uid && ownEntry(metadata.managedFields, owner.style) === undefined;
  const nextOwner = alive.find(({ owner: by }) => by === expectedBy) ?? alive[0];
  // An owner with a claim manages the object from then on; an owner that has yet to apply it does not know of it.
  if (nextOwner !== undefined && mark === undefined && !isForeign) {
    const why = `${nextOwner.owner} claims it and has not applied it yet`;
    return { kind: "handOver", entry, why, to: { owner: nextOwner.owner, claimant: nextOwner }, checked };
  }
  if (expectedBy !== undefined) {
    const why = `${expectedBy} is about to apply it`;
    return { kind: "handOver", entry, why, to: { owner: expectedBy, claimant: undefined }, checked };
  }
  if (mark !== undefined) return keep(`${mark} on the object in the cluster`, true);
  if (isForeign) return keep("another client created an object with this name", false);
  return { kind: "delete", entry, checked, isTerminating: metadata.deletionTimestamp !== undefined };
}

/** The claimant in the owner labels: one that exists if there is one, else one that is gone. */
function labelledBy(metadata: Metadata | undefined, claimants: readonly Claimant[]): Claimant | undefined {
  const named = claimants.filter(({ owner }) => isOwnedBy(metadata, ownerOfClaim(owner)));
  return named.find(({ state }) => state !== "gone") ?? named[0];
}
