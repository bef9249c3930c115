import { backOffMs } from "../core/failure.ts";

/**
 * How long a lease lives after its last renewal, measured by the delay of a message in the queue and never by a wall clock. Also
 * how long the message that woke a run stays hidden.
 */
export const leaseMs = 60_000;

/** A holder stops writing this long before {@link leaseMs} is over. No request to a cluster may take longer than this. */
export const marginMs = 15_000;

/** How often a lease is renewed: three tries fit before its holder has to stop. */
export const renewEveryMs = 15_000;

/** How long a wake-up counts as under way before another one is sent. */
export const wakeMs = 60_000;

/** Sweeps that wake an object, a minute each, before it counts as one that no run begins with. */
export const notRunSweeps = 15;

/** Runs that did not end, on the same input, before an object is parked. With {@link attemptBackOffMs} about 25 minutes. */
export const maxAttempts = 12;

/** Further tries to tell the user that the object is parked, before it is parked without telling. */
export const maxAnnouncements = 3;

/** How often the input of a parked object is read again, in case every hint of a change was lost. */
export const recheckMs = 3_600_000;

/** Without a request a flow is not run again sooner than this, so that none can run in a loop. */
export const minDueMs = 1_000;

/** A hint that finds the run of another hint under way is served so long after that run has begun. */
export const burstMs = 1_000;

/** Two runs that are only for hints begin so long after each other, unless a request that is not a hint comes between. */
export const hintGapMs = 100;

/** The wait after this many attempts. */
export function attemptBackOffMs(attempts: number): number {
  return backOffMs(Math.max(0, attempts - 1));
}

/** How long an Event that could not be told is kept. */
export const untoldForMs = 24 * 3_600_000;

/** The first wait before such an Event is told again; later ones are as long as it has waited, up to {@link untoldRetryMaxMs}. */
export const untoldRetryMs = 30_000;

/** The longest of these waits: so late is a message after an outage. */
export const untoldRetryMaxMs = 600_000;
