import { helmGroup, kustomizeGroup } from "../../api/names.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Fence } from "../../core/ports/fence.ts";
import type { TargetCluster } from "../../core/ports/home-and-target.ts";
import type { InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Claim, Ledger } from "../../core/ports/ledger.ts";
import type { Secret } from "../../core/secret.ts";
import type { ApplyRules } from "./apply-rules.ts";

/** An owner of objects, of any kind, with its cluster and its stores: the input of planning, inventory and pruning. */
export interface ApplySet {
  readonly owner: InventoryOwner;
  /** As the owner labels name it. */
  readonly name: string;
  readonly namespace: string;
  /** The group of the owner labels; that of Kustomizations by default. */
  readonly labelGroup?: string;
  /** As its claims name it, see {@link ownerOfClaim}. */
  readonly claimName: string;
  /** The cluster that the objects are in. Writes only while the run holds its lease. */
  readonly cluster: TargetCluster;
  readonly inventories: Pick<InventoryStore, "clusters" | "load" | "savedUnder" | "save">;
  readonly ledger: Ledger;
  readonly fence: Fence;
  readonly clock: Clock;
  /** The key under which the digests of the inventory are made. */
  readonly installationKey: Secret;
  /** Requests to the API server at the same time. */
  readonly concurrency: number;
  readonly rules: ApplyRules;
  readonly others: OtherOwners;
  /** It handles an object that it drops only once, not in each run, so it writes the labels of the next owner itself. */
  readonly handsOverAtOnce?: boolean;
}

/** What the owner's kind knows about other owners. Every call reads again. */
export interface OtherOwners {
  /** Whether the owner that has made a claim exists and is not being deleted. */
  stateOf(claim: Pick<Claim, "owner" | "ownerUid">, signal: AbortSignal): Promise<OwnerState>;
  /**
   * The objects that other owners are about to apply, among the prune candidates and the objects that their deletion may cascade to.
   * `owners` only if `mayCascade`. Asked only if there are prune candidates.
   */
  ownersAround(
    near: Nearness,
    signal: AbortSignal,
  ): Promise<{ readonly expected: readonly Expected[]; readonly owners: readonly OwnerNearby[] }>;
  /** Asks for a run of the owner of a claim. A hint: it may be lost. */
  wake(owner: string, reason: string, signal: AbortSignal): Promise<void>;
  /** Wakes this owner when one of these owners of claims releases objects; holds until its next run. */
  subscribeTo(owners: readonly string[], signal: AbortSignal): Promise<void>;
  /** Wakes each owner that has subscribed to this one, since it has released objects. */
  announceRelease(signal: AbortSignal): Promise<void>;
}

/** `deleting`: it is being deleted together with all its objects. `gone`: no owner has this uid. */
export type OwnerState = "alive" | "deleting" | "gone";

/** An object and what the cluster calls its kind in the plural; undefined where that is not served, or does not matter. */
export interface Placed {
  readonly ref: ObjectRef;
  readonly plural?: string | undefined;
}

export interface Expected extends Placed {
  /** The owner that is about to apply it, as `Kustomization/namespace/name`. */
  readonly owner: string;
}

export interface OwnerNearby extends Placed {
  /** It is this owner: its objects are those of its inventory. */
  readonly isSelf: boolean;
  /** It is being deleted together with all its objects. */
  readonly isTerminating: boolean;
  /** Its deletion deletes all its objects. */
  readonly cascades: boolean;
  /** The objects in its status to which the deletion of a prune candidate could cascade. */
  readonly has: readonly Placed[];
}

/** The prune candidates, and the objects that their deletion may cascade to. */
export interface Nearness {
  /** Whether an object may be among them, judged by its name alone; a cluster has too many others to keep. */
  readonly isNear: (ref: ObjectRef) => boolean;
  /** Whether a namespace or definition is among the prune candidates. */
  readonly mayCascade: boolean;
}

/** The groups of the owner labels, by the kind of the owner. */
const labelGroups: Readonly<Record<string, string>> = { Kustomization: kustomizeGroup, HelmRelease: helmGroup };

/**
 * The name of an owner as a claim has it: `Kustomization/namespace/name`, and `/<uid of its home cluster>` where that is not the
 * cluster of the object.
 */
export function ownerOfClaim(owner: string): {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly homeUid: string | undefined;
  readonly labelGroup: string;
} {
  const [kind = "", namespace = "", name = "", homeUid] = owner.split("/");
  return { kind, namespace, name, homeUid, labelGroup: labelGroups[kind] ?? kustomizeGroup };
}
