import type { WorkKey } from "../work-key.ts";

/**
 * Proof of holding an object's lease. Every write to what apply and prune go by carries it, and the store refuses the write
 * (in the same transaction, by throwing {@link LeaseLost}) when the work item's lease token is another by now.
 */
export interface Fence {
  readonly key: WorkKey;
  readonly token: number;
}

/** A successor has taken, or may have taken, the object's lease: stop at once and write nothing more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}
