import { helmGroup } from "../../../api/names.ts";
import { type DecidedEntry, takenAlong, wouldTakeAlong } from "../../../apply/prune/cascade-refusals.ts";
import type { PruneDecision } from "../../../apply/prune/decisions.ts";
import { withPlurals } from "../../../apply/prune/gather-facts.ts";
import type { OwnerState } from "../../../apply/set/apply-set.ts";
import { cascadeScopeOf, mightBeWithin } from "../../../apply/set/cascade-scope.ts";
import { formatEntryId, parseEntryId } from "../../../apply/set/entry-id.ts";
import { ownEntry } from "../../../apply/set/field-managers.ts";
import { giveUpFields, isAppliedBy } from "../../../apply/set/give-up-fields.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import { maxLooks } from "../../../apply/set/preconditions.ts";
import { mapLimit } from "../../../core/concurrency.ts";
import { messageOf } from "../../../core/failure.ts";
import type { Metadata } from "../../../core/manifest.ts";
import { type ObjectRef, subject, type VersionedRef } from "../../../core/object-ref.ts";
import { ApiError, type DeleteOptions } from "../../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../../core/ports/inventory-store.ts";
import type { Claim } from "../../../core/ports/ledger.ts";
import { announceDeleted } from "../../announce-changed.ts";
import { stateOfOwner } from "../../owner/owner-state.ts";
import { ownersAround, ownersOfKind } from "../../owner/owners-nearby.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { isMarkedAs, type MarkedRelease } from "./helm-marks.ts";
import { isPassing } from "./hook-object.ts";
import { byUninstallOrder } from "./uninstall-order.ts";

/** What is deleted. */
export interface ObjectToDelete {
  readonly ref: ObjectRef;
  /** The version of the manifest, or that of the inventory. */
  readonly version: string;
  /** The uid of the applied object, as in the inventory. */
  readonly uid?: string | undefined;
  /** Why it stays whatever the cluster says, if it does. */
  readonly keptBy: string | undefined;
}

/** The result for one of them. */
export type DeletedObject =
  | { readonly kind: "gone"; readonly ref: ObjectRef }
  /** Its deletion was requested, now or earlier. */
  | { readonly kind: "deleting"; readonly ref: VersionedRef }
  /** `isOurs`: it is of the release and protected; else it is another's by now. */
  | {
      readonly kind: "kept";
      readonly ref: ObjectRef;
      readonly isOurs: boolean;
      readonly why: string;
      /** Another owner has applied it: our labels and fields go. */
      readonly givesUp?: VersionedRef;
    }
  /** A namespace or definition with objects that must stay (ADR 0007). */
  | { readonly kind: "held"; readonly ref: ObjectRef; readonly why: string }
  | { readonly kind: "refused"; readonly ref: ObjectRef; readonly message: string };

export interface DeletionOrder {
  readonly ctx: HelmReleaseContext;
  readonly release: MarkedRelease;
  readonly propagation: DeleteOptions["propagation"];
}

/** The inventory entries that are not among these objects: remains of an earlier revision, or all entries if no revision is left. */
export function alsoInInventory(
  objects: readonly ObjectToDelete[],
  inventory: readonly InventoryEntry[],
): readonly ObjectToDelete[] {
  const known = new Set(objects.map(({ ref }) => formatEntryId(ref)));
  const others = inventory.filter(({ id, state }) => state !== "retained" && !known.has(id));
  return others.map(({ id, uid, version }) => ({ ref: parseEntryId(id), version, uid, keptBy: undefined }));
}

/** An object as read before its deletion. */
interface Judged {
  readonly wanted: ObjectToDelete;
  readonly verdict: DeletedObject | { readonly kind: "delete"; readonly ref: VersionedRef };
  /** Undefined if it does not exist, or was not read. */
  readonly seen: { readonly plural: string; readonly metadata: Metadata } | undefined;
}

/**
 * Deletes objects kind by kind in Helm's order. All are read first, by the rules of a prune: an object stays if it is protected, if
 * Helm's marks name another release, if another client created it, or if another owner claims it; so does a namespace or definition
 * with objects that must stay. A delete has the uid and version that were seen as its condition.
 */
export async function deleteObjects(
  objects: readonly ObjectToDelete[],
  order: DeletionOrder,
): Promise<readonly DeletedObject[]> {
  const { deps, remote, run } = order.ctx;
  const judged = await judge(objects, order);
  const outcomes: DeletedObject[] = [];
  const byKind = Map.groupBy(judged, ({ wanted }) => wanted.ref.kind);
  for (const kind of [...byKind.keys()].toSorted(byUninstallOrder)) {
    const sameKind = byKind.get(kind) ?? [];
    const held = await heldAmong(sameKind, judged, order);
    const deleteOne = (one: Judged) => deleteObject(one, held, order);
    outcomes.push(...(await mapLimit(sameKind, deps.concurrency, deleteOne, run.signal)));
  }
  const asked = new Set(
    judged.flatMap(({ verdict: { kind, ref } }) => (kind === "delete" ? [formatEntryId(ref)] : [])),
  );
  const deleted = outcomes.flatMap(({ kind, ref }) =>
    kind === "deleting" && asked.has(formatEntryId(ref)) ? [ref] : [],
  );
  if (remote === undefined) await announceDeleted(deleted, run.key.cluster, deps, run.signal);
  return outcomes;
}

async function judge(objects: readonly ObjectToDelete[], order: DeletionOrder): Promise<readonly Judged[]> {
  const { deps, owner, run } = order.ctx;
  const ids = objects.map(({ ref }) => formatEntryId(ref));
  const claims = await deps.ledger.claims(owner.clusterUid, ids, run.signal);
  const judgeOne = (one: ObjectToDelete) => judgeObject(one, claims.get(formatEntryId(one.ref)) ?? [], order);
  return mapLimit(objects, deps.concurrency, judgeOne, run.signal);
}

async function judgeObject(
  wanted: ObjectToDelete,
  claims: readonly Claim[],
  { ctx, release }: DeletionOrder,
): Promise<Judged> {
  const { run, target } = ctx;
  const { keptBy, ref, version } = wanted;
  const judged = (verdict: Judged["verdict"], seen?: Judged["seen"]): Judged => ({ wanted, verdict, seen });
  try {
    const resource =
      (await target.resource({ group: ref.group, kind: ref.kind, version }, run.signal)) ??
      (await target.resource({ group: ref.group, kind: ref.kind }, run.signal));
    if (resource === undefined) return judged({ kind: "gone", ref });
    const versioned = { ...ref, version: resource.version };
    const live = await target.get(versioned, run.signal);
    if (live === undefined) return judged({ kind: "gone", ref });
    const { metadata } = live;
    const seen = { plural: resource.plural, metadata };
    if (keptBy !== undefined) return judged({ kind: "kept", ref, isOurs: true, why: keptBy }, seen);
    if (metadata.deletionTimestamp !== undefined) return judged({ kind: "deleting", ref: versioned }, seen);
    const why = await whyItStays(metadata, wanted, claims, release, ctx);
    if (why !== undefined) {
      const givesUp = why.isApplied === true ? { givesUp: versioned } : {};
      return judged({ kind: "kept", ref, isOurs: why.isOurs, why: why.text, ...givesUp }, seen);
    }
    return judged({ kind: "delete", ref: versioned }, seen);
  } catch (error) {
    if (keptBy !== undefined && error instanceof ApiError && !isPassing(error)) {
      return judged({ kind: "kept", ref, isOurs: true, why: keptBy });
    }
    return judged(refused(ref, error));
  }
}

function refused(ref: ObjectRef, error: unknown): DeletedObject {
  if (!(error instanceof ApiError) || isPassing(error)) throw error;
  return { kind: "refused", ref, message: `${subject(ref)} delete failed: ${messageOf(error)}` };
}

/**
 * The namespaces and definitions among these with objects that must stay, by entry id, with the reason: other owners' objects, and
 * those that this uninstall keeps itself. Gathered right before they are deleted.
 */
async function heldAmong(
  some: readonly Judged[],
  all: readonly Judged[],
  { ctx }: DeletionOrder,
): Promise<ReadonlyMap<string, string>> {
  const { home, run, target } = ctx;
  const scopes = some.flatMap(({ verdict, wanted }) =>
    verdict.kind === "delete" ? (cascadeScopeOf(wanted.ref) ?? []) : [],
  );
  if (scopes.length === 0) return new Map();
  const ids = new Set(some.map(({ wanted }) => formatEntryId(wanted.ref)));
  const isNear = (ref: ObjectRef) => ids.has(formatEntryId(ref)) || scopes.some((scope) => mightBeWithin(ref, scope));
  const kustomizations = await ownersOfKind("Kustomization", home, run.signal);
  const owners = await ownersAround(kustomizations, isNear, ctx, run.signal);
  const around = await withPlurals({ expected: [], owners }, { cluster: target }, run.signal);
  const held = takenAlong(all.map(decided), { wanted: [], ...around });
  return new Map([...held].map(([id, staying]) => [id, wouldTakeAlong(staying)]));
}

/** As a prune decides it. */
function decided({ seen, verdict, wanted }: Judged): DecidedEntry {
  const { ref, version } = wanted;
  const entry = { id: formatEntryId(ref), version, state: "live" } as const;
  const object =
    seen === undefined
      ? ({ kind: "unknown", message: "it was not looked at" } as const)
      : ({ kind: "there", version, ...seen } as const);
  return { entry, ref, object, claimants: [], decision: decisionOf(entry, verdict, seen?.metadata) };
}

function decisionOf(entry: InventoryEntry, verdict: Judged["verdict"], metadata: Metadata | undefined): PruneDecision {
  switch (verdict.kind) {
    case "gone":
      return { kind: "gone", entry };
    case "delete":
    case "deleting": {
      const checked = { ref: verdict.ref, metadata: metadata ?? { name: verdict.ref.name } };
      return { kind: "delete", entry, checked, isTerminating: verdict.kind === "deleting" };
    }
    case "held":
    case "kept": {
      const { why } = verdict;
      const isRetained = verdict.kind === "held" || verdict.isOurs;
      return { kind: "keep", entry, why, isRetained, isAwaited: false, hasOtherLabels: false, labelled: undefined };
    }
    case "refused":
      return { kind: "unknown", entry, line: verdict.message };
  }
}

async function deleteObject(
  { seen, verdict, wanted }: Judged,
  held: ReadonlyMap<string, string>,
  order: DeletionOrder,
  looks = 1,
): Promise<DeletedObject> {
  if (verdict.kind === "kept" && verdict.givesUp !== undefined) {
    await giveUp(verdict.givesUp, seen?.metadata, order);
    return verdict;
  }
  if (verdict.kind !== "delete") return verdict;
  const { ctx, propagation } = order;
  const { ref } = wanted;
  const why = held.get(formatEntryId(ref));
  if (why !== undefined) return { kind: "held", ref, why };
  try {
    const options = { ...conditions(seen?.metadata ?? {}), propagation };
    const outcome = await ctx.target.delete(verdict.ref, options, ctx.run.signal);
    return outcome === "gone" ? { kind: "gone", ref } : { kind: "deleting", ref: verdict.ref };
  } catch (error) {
    const isChanged = error instanceof ApiError && error.reason === "Conflict";
    if (!isChanged || looks >= maxLooks) return refused(ref, error);
    // It has changed since the look.
    const [again] = await judge([wanted], order);
    if (again === undefined) throw error;
    return deleteObject(again, await heldAmong([again], [again], order), order, looks + 1);
  }
}

/** Another owner's objects stay, even if our labels cannot be removed from them. */
async function giveUp(ref: VersionedRef, metadata: Metadata | undefined, { ctx }: DeletionOrder): Promise<void> {
  const { deps, run, target } = ctx;
  try {
    const set = { cluster: target, rules: { style: helmReleaseStyle } };
    await giveUpFields(ref, metadata ?? { name: ref.name }, set, run.signal);
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    deps.log.warn("labels of the release stay on an object of another owner", {
      ...run.key,
      object: subject(ref),
      error: messageOf(error),
    });
  }
}

function conditions({ resourceVersion, uid }: Partial<Metadata>): Pick<DeleteOptions, "resourceVersion" | "uid"> {
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

async function whyItStays(
  metadata: Metadata,
  { uid }: ObjectToDelete,
  claims: readonly Claim[],
  release: MarkedRelease,
  ctx: HelmReleaseContext,
): Promise<{ readonly text: string; readonly isOurs: boolean; readonly isApplied?: boolean } | undefined> {
  const mark = helmReleaseStyle.optOuts.keptBy(metadata);
  if (mark !== undefined) return { text: `${mark} on the object in the cluster`, isOurs: true };
  if (!isMarkedAs(metadata, release)) return { text: "Helm's annotations name another release or none", isOurs: false };
  const isReplaced = uid !== undefined && uid !== metadata.uid;
  if (isReplaced && ownEntry(metadata.managedFields, helmReleaseStyle) === undefined) {
    return { text: "another client created an object with this name", isOurs: false };
  }
  for (const claim of claims) {
    if (claim.ownerUid !== ctx.owner.uid && (await stateOfClaim(claim, ctx)) === "alive") {
      const isApplied = isAppliedBy(claim.owner, metadata, { ...ctx, labelGroup: helmGroup });
      return { text: `${claim.owner} claims it`, isOurs: false, isApplied };
    }
  }
  return undefined;
}

function stateOfClaim(claim: Claim, { home, homeUid, owner, run }: HelmReleaseContext): Promise<OwnerState> {
  return stateOfOwner(claim, { home, homeUid, targetUid: owner.clusterUid }, run.signal);
}

/** The objects that are not gone yet, in their order. Objects that the account may no longer read count as present. */
export async function notGone(
  deleted: readonly DeletedObject[],
  { deps, run, target }: HelmReleaseContext,
): Promise<readonly VersionedRef[]> {
  const refs = deleted.flatMap((one) => (one.kind === "deleting" ? [one.ref] : []));
  const isThere = async (ref: VersionedRef, stop: AbortSignal): Promise<boolean> => {
    try {
      return (await target.get(ref, stop)) !== undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === "NoMatch") return false;
      if (error.reason === "Forbidden") return true;
      throw error;
    }
  };
  const there = await mapLimit(refs, deps.concurrency, isThere, run.signal);
  return refs.filter((_, index) => there[index] === true);
}
