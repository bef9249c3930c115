import type { OwnerState } from "../../../apply/set/apply-set.ts";
import { formatEntryId, parseEntryId } from "../../../apply/set/entry-id.ts";
import { helmReleaseStyle } from "../../../apply/set/owner-style.ts";
import { maxLooks } from "../../../apply/set/preconditions.ts";
import { mapLimit } from "../../../core/concurrency.ts";
import { messageOf } from "../../../core/failure.ts";
import type { Metadata } from "../../../core/manifest.ts";
import { type ObjectRef, subject, type VersionedRef } from "../../../core/object-ref.ts";
import { ApiError, type DeleteOptions } from "../../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../../core/ports/inventory-store.ts";
import type { Claim } from "../../../core/ports/ledger.ts";
import { stateOfOwner } from "../../owner/owner-state.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import { isMarkedAs, type MarkedRelease } from "./helm-marks.ts";
import { isPassing } from "./hook-object.ts";
import { byUninstallOrder } from "./uninstall-order.ts";

/** What is deleted. */
export interface ObjectToDelete {
  readonly ref: ObjectRef;
  /** The version of the manifest, or that of the inventory. */
  readonly version: string;
  /** The manifest says `helm.sh/resource-policy: keep`. */
  readonly isKept: boolean;
}

/** What has become of one of them. */
export type DeletedObject =
  | { readonly kind: "gone"; readonly ref: ObjectRef }
  /** Its deletion was asked for, now or before. */
  | { readonly kind: "deleting"; readonly ref: VersionedRef }
  /** `isOurs`: it is of the release and protected; else it is another's by now. */
  | { readonly kind: "kept"; readonly ref: ObjectRef; readonly isOurs: boolean; readonly why: string }
  | { readonly kind: "refused"; readonly ref: ObjectRef; readonly message: string };

export interface DeletionOrder {
  readonly ctx: HelmReleaseContext;
  readonly release: MarkedRelease;
  readonly propagation: DeleteOptions["propagation"];
}

/** The entries of the inventory that are not among these objects: what an earlier revision has left, or all of it where no revision is left. */
export function alsoInInventory(
  objects: readonly ObjectToDelete[],
  inventory: readonly InventoryEntry[],
): readonly ObjectToDelete[] {
  const known = new Set(objects.map(({ ref }) => formatEntryId(ref)));
  const others = inventory.filter(({ id, state }) => state !== "retained" && !known.has(id));
  return others.map(({ id, version }) => ({ ref: parseEntryId(id), version, isKept: false }));
}

/**
 * Deletes objects kind by kind in Helm's order. Each is looked at first: one that is protected, or that is not of this release by Helm's
 * marks, or that another owner claims, stays. A delete has the uid and version that were seen as its condition.
 */
export async function deleteObjects(
  objects: readonly ObjectToDelete[],
  order: DeletionOrder,
): Promise<readonly DeletedObject[]> {
  const { deps, owner, run } = order.ctx;
  const ids = objects.map(({ ref }) => formatEntryId(ref));
  const claims = await deps.ledger.claims(owner.clusterUid, ids, run.signal);
  const outcomes: DeletedObject[] = [];
  const byKind = Map.groupBy(objects, ({ ref }) => ref.kind);
  for (const kind of [...byKind.keys()].toSorted(byUninstallOrder)) {
    const sameKind = byKind.get(kind) ?? [];
    const deleteOne = (one: ObjectToDelete) => deleteObject(one, claims.get(formatEntryId(one.ref)) ?? [], order);
    outcomes.push(...(await mapLimit(sameKind, deps.concurrency, deleteOne, run.signal)));
  }
  return outcomes;
}

async function deleteObject(
  wanted: ObjectToDelete,
  claims: readonly Claim[],
  order: DeletionOrder,
  looks = 1,
): Promise<DeletedObject> {
  const { ctx, propagation, release } = order;
  const { run, target } = ctx;
  const { ref, version, isKept: isKeptByManifest } = wanted;
  const kept = (why: string, isOurs: boolean): DeletedObject => ({ kind: "kept", ref, isOurs, why });
  if (isKeptByManifest) return kept("helm.sh/resource-policy: keep in the manifest", true);
  try {
    const resource =
      (await target.resource({ group: ref.group, kind: ref.kind, version }, run.signal)) ??
      (await target.resource({ group: ref.group, kind: ref.kind }, run.signal));
    if (resource === undefined) return { kind: "gone", ref };
    const versioned = { ...ref, version: resource.version };
    const live = await target.get(versioned, run.signal);
    if (live === undefined) return { kind: "gone", ref };
    const { metadata } = live;
    if (metadata.deletionTimestamp !== undefined) return { kind: "deleting", ref: versioned };
    const why = await whyItStays(metadata, claims, release, ctx);
    if (why !== undefined) return kept(why.text, why.isOurs);
    const outcome = await target.delete(versioned, { ...conditions(metadata), propagation }, run.signal);
    return outcome === "gone" ? { kind: "gone", ref } : { kind: "deleting", ref: versioned };
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    // It has changed since the look.
    if (error.reason === "Conflict" && looks < maxLooks) return deleteObject(wanted, claims, order, looks + 1);
    return { kind: "refused", ref, message: `${subject(ref)} delete failed: ${messageOf(error)}` };
  }
}

function conditions({ resourceVersion, uid }: Metadata): Pick<DeleteOptions, "resourceVersion" | "uid"> {
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

async function whyItStays(
  metadata: Metadata,
  claims: readonly Claim[],
  release: MarkedRelease,
  ctx: HelmReleaseContext,
): Promise<{ readonly text: string; readonly isOurs: boolean } | undefined> {
  const mark = helmReleaseStyle.optOuts.keptBy(metadata);
  if (mark !== undefined) return { text: `${mark} on the object in the cluster`, isOurs: true };
  if (!isMarkedAs(metadata, release)) return { text: "Helm's annotations name another release or none", isOurs: false };
  for (const claim of claims) {
    if (claim.ownerUid !== ctx.owner.uid && (await stateOfClaim(claim, ctx)) === "alive") {
      return { text: `${claim.owner} claims it`, isOurs: false };
    }
  }
  return undefined;
}

function stateOfClaim(claim: Claim, { home, homeUid, owner, run }: HelmReleaseContext): Promise<OwnerState> {
  return stateOfOwner(claim, { home, homeUid, targetUid: owner.clusterUid }, run.signal);
}

/** Those that are not gone yet, in their order. What the account may no longer read counts as there. */
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
