import type { ObjectRef } from "../../core/object-ref.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import type { Fence } from "../../core/ports/fence.ts";
import type { InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Claim, Ledger } from "../../core/ports/ledger.ts";
import type { Expected, OwnerNearby, Standing } from "./facts.ts";

/** Whose objects they are, where they are, and where that is kept: all that a prune needs of an owner of any kind. */
export interface ApplySet {
  readonly owner: InventoryOwner;
  /** As the owner labels name it. */
  readonly name: string;
  readonly namespace: string;
  /** As its claims name it: `Kustomization/namespace/name`. */
  readonly claimName: string;
  /** Writes only while the run holds its lease. */
  readonly cluster: Cluster;
  readonly inventories: Pick<InventoryStore, "save">;
  readonly ledger: Ledger;
  readonly fence: Fence;
  /** Requests to the API server at the same time. */
  readonly concurrency: number;
  readonly others: OtherOwners;
}

/** What the kind of the owner knows of others. Asked afresh each time. */
export interface OtherOwners {
  /** Whether the owner who has made a claim still stands up for it. */
  standing(claim: Pick<Claim, "owner" | "ownerUid">, signal: AbortSignal): Promise<Standing>;
  /**
   * What others are about to have of what is unwanted here or near it, and, only where something may be taken along, what
   * the owners of the cluster have near it. Asked only where something is unwanted.
   */
  around(
    near: Nearness,
    signal: AbortSignal,
  ): Promise<{ readonly expected: readonly Expected[]; readonly owners: readonly OwnerNearby[] }>;
  /** Asks for a run of the owner of a claim. Only ever a hint. */
  wake(owner: string, reason: string, signal: AbortSignal): Promise<void>;
  /** Has this owner run again when one of these, each the owner of a claim, lets go of objects; counts until its next run. */
  listenTo(owners: readonly string[], signal: AbortSignal): Promise<void>;
  /** Asks for a run of each owner that listens to this one, since it has let go of objects. */
  announceRelease(signal: AbortSignal): Promise<void>;
}

/** What may be taken along by what is unwanted. */
export interface Nearness {
  /** Whether an object, by its name alone, is unwanted itself or may be taken along; a cluster has more than is worth holding. */
  readonly isNear: (ref: ObjectRef) => boolean;
  /** Whether a namespace or definition is among what is to go. */
  readonly takesAlong: boolean;
}

/** The name of an owner as a claim has it: `Kustomization/namespace/name`. */
export function ownerOfClaim(owner: string): {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
} {
  const [kind = "", namespace = "", name = ""] = owner.split("/");
  return { kind, namespace, name };
}
