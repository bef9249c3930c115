import { deletionPolicy, type Kustomization, readForEnd } from "../../api/kustomization.ts";
import { helmGroup, kustomizeGroup } from "../../api/names.ts";
import { type OwnerState, ownerOfClaim } from "../../apply/set/apply-set.ts";
import { isJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { VersionedRef } from "../../core/object-ref.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Claim } from "../../core/ports/ledger.ts";
import type { WorkKey } from "../../core/work-key.ts";

/** The kinds that own objects. */
const owners: Readonly<Record<string, { readonly group: string; readonly version: string }>> = {
  HelmRelease: { group: helmGroup, version: "v2" },
  Kustomization: { group: kustomizeGroup, version: "v1" },
};

/** The owner that a claim names; undefined if its kind owns no objects. */
export function refOfClaim(owner: string): VersionedRef | undefined {
  const { kind, name, namespace } = ownerOfClaim(owner);
  const served = owners[kind];
  return served && { ...served, kind, namespace, name };
}

/** The work key of the owner that a claim names. */
export function keyOfClaim(owner: string, cluster: string): WorkKey {
  const { kind, name, namespace } = ownerOfClaim(owner);
  return { cluster, group: owners[kind]?.group ?? kustomizeGroup, kind, namespace, name };
}

/**
 * The state of the owner that made a claim. An owner of a kind that owns nothing here, or that lives in another home cluster, counts
 * as alive.
 */
export async function stateOfOwner(
  { owner, ownerUid }: Pick<Claim, "owner" | "ownerUid">,
  { home, homeUid, targetUid }: { readonly home: HomeCluster; readonly homeUid: string; readonly targetUid: string },
  signal: AbortSignal,
): Promise<OwnerState> {
  const ref = refOfClaim(owner);
  const { homeUid: itsHome = targetUid } = ownerOfClaim(owner);
  if (ref === undefined || itsHome !== homeUid) return "alive";
  const live = await home.get(ref, signal);
  if (live?.metadata.uid !== ownerUid) return "gone";
  return isBeingDeletedWithObjects(live) ? "deleting" : "alive";
}

/**
 * Whether an owner is being deleted together with its objects. A Kustomization with an unreadable field that decides about its
 * end deletes nothing; other unreadable fields do not matter.
 *
 * @param isPruned it is about to be deleted
 */
export function isBeingDeletedWithObjects(live: LiveObject, isPruned = false): boolean {
  if (live.metadata.deletionTimestamp === undefined && !isPruned) return false;
  if (live.kind === "HelmRelease") return !isSuspended(live);
  const kustomization = readForEnd(live);
  return kustomization !== undefined && deletesObjects(kustomization.spec);
}

/** Whether the deletion of a Kustomization takes its objects along (reference section 5). */
export function deletesObjects(spec: Kustomization["spec"]): boolean {
  if (spec.suspend === true) return false;
  switch (deletionPolicy(spec)) {
    case "Delete":
    case "WaitForTermination":
      return true;
    case "MirrorPrune":
      return spec.prune;
    case "Orphan":
      return false;
  }
}

/** A suspended HelmRelease leaves its release. */
function isSuspended({ spec }: LiveObject): boolean {
  return isJsonObject(spec) && spec["suspend"] === true;
}
