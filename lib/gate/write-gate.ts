import { messageOf } from "../core/failure.ts";
import { orAborted } from "../core/or-aborted.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import { GateClosed, LookTooOld, type WriteGate } from "../core/ports/write-gate.ts";

/** How long a look counts, in milliseconds: so long a process may go on writing after the gate has been closed. */
export const lookCountsMs = 5_000;

/** Says why nothing may be written to the cluster, or undefined to let it through. Throws an `Outage` where it cannot tell. */
export type GateCheck = (signal: AbortSignal) => Promise<string | undefined>;

interface Look {
  /** The moment before it was made, by both clocks: a process that was frozen must not go by what it saw before. */
  readonly wall: number;
  readonly monotonic: number;
  readonly reason: string | undefined;
}

/**
 * The gate of one process: the first of these checks that gives a reason closes it. All callers at the same time wait for the
 * same look. One that is closed stays so until a look says otherwise, also where looking fails. The log says it once.
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
    const before = last?.reason;
    try {
      const reason = await firstReason(checks, never);
      last = { ...moment, reason };
    } catch (error) {
      if (before === undefined) throw error;
      log.debug("the gate to the cluster stays closed", { error: messageOf(error) });
      return;
    }
    if (last.reason !== undefined && before === undefined) {
      log.warn("nothing is written to the cluster", { reason: last.reason });
    }
    if (last.reason === undefined && before !== undefined) log.info("the cluster is written to again");
  };
  const throwIfClosed = (): void => {
    if (last?.reason !== undefined) throw new GateClosed(last.reason);
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

async function firstReason(checks: readonly GateCheck[], signal: AbortSignal): Promise<string | undefined> {
  for (const check of checks) {
    const reason = await check(signal);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
