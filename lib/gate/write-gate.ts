import { orAborted } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import { type ClosedReason, GateClosed, LookTooOld, type WriteGate } from "../core/ports/write-gate.ts";

/** How long a look counts, in milliseconds: so long a process may go on writing after the gate has been closed. */
export const lookCountsMs = 5_000;

/** Why nothing may be written to the cluster, for code and for people. */
export interface Refusal {
  readonly reason: ClosedReason;
  /** Says how to mend it, too. */
  readonly message: string;
}

/** Says why nothing may be written to the cluster, or undefined to let it through. Throws an `Outage` where it cannot tell. */
export type GateCheck = (signal: AbortSignal) => Promise<Refusal | undefined>;

interface Look {
  /** The moment before it was made, by both clocks: a process that was frozen must not go by what it saw before. */
  readonly wall: number;
  readonly monotonic: number;
  readonly refusal: Refusal | undefined;
}

/**
 * The gate of one process: the first of these checks that gives a reason closes it. All callers at the same time wait for the same look. A
 * closed gate stays closed until a check opens it, also if a check fails. The log says each reason once.
 */
export function writeGate(
  checks: readonly GateCheck[],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): WriteGate {
  // No caller's signal ends a look, since others may wait for it. The adapter limits its calls.
  const { signal: never } = new AbortController();
  let last: Look | undefined;
  let looking: Promise<void> | undefined;

  const isFresh = (): boolean => {
    if (last === undefined) return false;
    return Math.max(clock.now() - last.wall, clock.monotonic() - last.monotonic) < lookCountsMs;
  };
  const look = async (): Promise<void> => {
    const moment = { wall: clock.now(), monotonic: clock.monotonic() };
    const before = last?.refusal;
    try {
      const refusal = await firstRefusal(checks, never);
      last = { ...moment, refusal };
    } catch (error) {
      if (before === undefined) throw error;
      log.debug("the gate to the cluster stays closed", { error: messageOf(error) });
      return;
    }
    const { refusal } = last;
    if (refusal !== undefined && refusal.message !== before?.message) {
      log.warn("nothing is written to the cluster", { reason: refusal.message });
    }
    if (refusal === undefined && before !== undefined) log.info("the cluster is written to again");
  };
  const throwIfClosed = (): void => {
    if (last?.refusal !== undefined) throw new GateClosed(last.refusal.message, last.refusal.reason);
  };
  return {
    async enter(signal) {
      if (!isFresh()) {
        looking ??= look().finally(() => {
          looking = undefined;
        });
        await orAborted(looking, signal);
      }
      throwIfClosed();
    },
    assertOpen() {
      throwIfClosed();
      if (!isFresh()) throw new LookTooOld();
    },
  };
}

async function firstRefusal(checks: readonly GateCheck[], signal: AbortSignal): Promise<Refusal | undefined> {
  for (const check of checks) {
    const refusal = await check(signal);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
