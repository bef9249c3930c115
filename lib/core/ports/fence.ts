import type { WorkKey } from "../work-key.ts";
import { PortError } from "./port-error.ts";

/**
 * Proof of holding an object's lease. Every write of state that apply and prune rely on carries it. The store refuses the write by
 * throwing {@link LeaseLost}, decided in the same transaction, if the work item's lease has another token by then.
 */
export interface Fence {
  readonly key: WorkKey;
  readonly token: number;
}

/** Another handler has taken the object's lease, or may have: stop at once and write nothing more. */
export class LeaseLost extends PortError<"lease-lost"> {
  override readonly name = "LeaseLost";

  constructor(message: string, options?: ErrorOptions) {
    super("lease-lost", message, options);
  }
}
