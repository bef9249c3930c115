import { backOffMs } from "../core/back-off.ts";

/**
 * How long a lease lives after its last renewal, as measured by the delay of a message in the queue and never by a wall
 * clock. Also the visibility of the message that a run was woken by.
 */
export const leaseMs = 60_000;

/** A holder stops writing this long before {@link leaseMs} is over. No request to a cluster may take longer than this. */
export const marginMs = 15_000;

/** How often a lease is renewed: three tries fit before its holder has to stop. */
export const renewEveryMs = 15_000;

/** How long a wake-up is trusted to be on its way before anybody sends it again. */
export const wakeMs = 60_000;

/** Runs that did not end, on the same input, before an object is parked. With {@link backoffMs} about 25 minutes. */
export const maxAttempts = 12;

/** Further tries to tell the user that the object is parked, before it is parked without a word. */
export const maxAnnouncements = 3;

/** How often it is checked whether the input of a parked object is still the same, should every hint of its change be lost. */
export const recheckMs = 3_600_000;

/** A flow is not run again sooner than this without a request, whatever it asks for: none can run in a loop. */
export const minDueMs = 1_000;

/** The wait after so many attempts. */
export function backoffMs(attempts: number): number {
  return backOffMs(Math.max(0, attempts - 1));
}
