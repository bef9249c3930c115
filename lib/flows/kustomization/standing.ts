import { kustomizeGroup } from "../../api/names.ts";
import { ownerOfClaim } from "../../apply/prune/apply-set.ts";
import type { Standing } from "../../apply/prune/facts.ts";
import type { ReplaceDeps } from "../../apply/reason-not-to-replace.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Claim } from "../../core/ports/ledger.ts";
import { isGoingWithAll } from "./is-going-with-all.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * Whether the Kustomization that has made a claim lives on: a claim whose owner's uid is gone is void, and so is one of an owner
 * that is being deleted with all it has. Two that are deleted at once would else leave what they share to each other.
 */
export async function standingOf(
  { owner, ownerUid }: Pick<Claim, "owner" | "ownerUid">,
  { cluster }: Pick<SubjectOfRun, "cluster">,
  signal: AbortSignal,
): Promise<Standing> {
  const live = await cluster.get({ ...refOfOwner(owner), version: "v1" }, signal);
  if (live?.metadata.uid !== ownerUid) return "gone";
  return isGoingWithAll(live) ? "going" : "alive";
}

/** What a forced delete asks. The ledger is read again for each object: it is asked once more right before the delete. */
export function replaceDeps(inventory: readonly InventoryEntry[], of: SubjectOfRun): ReplaceDeps {
  const { deps, owner, name, namespace } = of;
  return {
    owner: { name, namespace },
    inventory,
    otherOwner: async (id, signal) => {
      const claims = await deps.ledger.claims(owner.clusterUid, [id], signal);
      for (const claim of claims.get(id) ?? []) {
        if (claim.ownerUid !== owner.uid && (await standingOf(claim, of, signal)) === "alive") return claim.owner;
      }
      return undefined;
    },
  };
}

/** The Kustomization that a claim names. */
export function refOfOwner(owner: string): ObjectRef {
  return { group: kustomizeGroup, ...ownerOfClaim(owner) };
}
