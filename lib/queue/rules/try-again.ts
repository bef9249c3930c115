const maxFaults = 5;

/** A call to the table that has failed, with all that it is known by. */
export interface FailedCall {
  /** How often it has failed, this time included. */
  readonly faults: number;
  /** Whether a write of it gave no answer. */
  readonly inDoubt: boolean;
  /** Whether the caller has time to wait for an answer; callers that say nothing of it have none. */
  readonly hasTime: boolean;
}

/**
 * Whether a call is tried again. A few times in any case; one that may have taken a lease, or that ends a run, for as long as
 * there is time: nobody else can tell it from a holder that is dead, and its object would be counted down for the table's fault.
 */
export function tryAgain({ faults, inDoubt, hasTime }: FailedCall): boolean {
  return faults < maxFaults || (inDoubt && hasTime);
}
