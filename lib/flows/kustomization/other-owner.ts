import { kustomizeGroup } from "../../api/names.ts";
import type { ReplaceDeps } from "../../apply/reason-not-to-replace.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Claim } from "../../core/ports/ledger.ts";
import { isGoingWithAll } from "./is-going-with-all.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * The first other claimant that lives on: a claim whose owner's uid is gone is void, and so is one of an owner that is being
 * deleted with all it has. Two that are deleted at once would else leave what they share to each other.
 */
export async function otherOwner(claims: readonly Claim[], of: SubjectOfRun): Promise<string | undefined> {
  for (const { ownerUid, owner } of claims) {
    if (ownerUid === of.owner.uid) continue;
    const live = await of.cluster.get({ ...refOfOwner(owner), version: "v1" }, of.run.signal);
    if (live?.metadata.uid === ownerUid && !isGoingWithAll(live)) return owner;
  }
  return undefined;
}

/** What a forced delete asks. The ledger is read again for each object: it is asked once more right before the delete. */
export function replaceDeps(inventory: readonly InventoryEntry[], of: SubjectOfRun): ReplaceDeps {
  const { deps, owner, name, namespace } = of;
  return {
    owner: { name, namespace },
    inventory,
    otherOwner: async (id, signal) => {
      const claims = await deps.ledger.claims(owner.clusterUid, [id], signal);
      return otherOwner(claims.get(id) ?? [], of);
    },
  };
}

/** Reads the name of an owner as a claim has it. */
export function refOfOwner(owner: string): ObjectRef {
  const [kind = "", namespace = "", name = ""] = owner.split("/");
  return { group: kustomizeGroup, kind, namespace, name };
}
