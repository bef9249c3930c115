import type { Fence } from "./fence.ts";

/** One claim on an object of a cluster. */
export interface Claim {
  /** The inventory entry id. */
  readonly id: string;
  /** The uid of the custom resource that owns it. */
  readonly ownerUid: string;
  /** Its name for people: `Kustomization/namespace/name`. */
  readonly owner: string;
}

/**
 * The claims on all objects of a cluster: which owner has an object and which other owners want it, so that an object that moves from one
 * Kustomization to another is handed over and never deleted in between.
 */
export interface Ledger {
  /** Adds claims; an owner that claims again changes nothing. The first claimant of an unclaimed id is its owner. */
  claim(clusterUid: string, claims: readonly Claim[], fence: Fence, signal: AbortSignal): Promise<void>;
  /** Removes this owner's claims. If other owners claim the id, the first of them becomes its owner. */
  release(
    clusterUid: string,
    ownerUid: string,
    ids: readonly string[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void>;
  /** The claims on each of these ids, the owner's first; an id without a claim is left out. */
  claims(
    clusterUid: string,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly Claim[]>>;
}
