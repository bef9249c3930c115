import { orAborted } from "../core/concurrency.ts";
import { PortError } from "../core/ports/port-error.ts";
import type { Tenant } from "../core/tenant.ts";

/** A tenant has as much waiting as it may. It may come again as soon as some of that is done. */
export class TooManyWaiting extends PortError<"busy"> {
  override readonly name = "TooManyWaiting";
}

/**
 * Lets at most `places` callers work at the same time. The tenant whose last turn is longest ago has the next turn, and a tenant's
 * own callers have theirs in the order of their calls. So a tenant with many waiting callers delays another tenant only by the call
 * that is running.
 *
 * A caller holds its place until it disposes of it. A waiting caller whose signal is aborted gives up and throws the signal's reason.
 *
 * @param maxWaiting callers of one tenant that may wait: a further one throws {@link TooManyWaiting}
 */
export function fairTurns(
  places: number,
  maxWaiting: number,
): (tenant: Tenant, signal: AbortSignal) => Promise<Disposable> {
  let free = places;
  let turns = 0;
  const waiting = new Map<string, (() => void)[]>();
  /** When each tenant had its last turn, since all places were free. */
  const lastTurn = new Map<string, number>();

  const begin = (tenant: string): void => {
    lastTurn.set(tenant, turns++);
  };
  const release = (): void => {
    const tenant = longestAgo(waiting.keys(), lastTurn);
    if (tenant !== undefined) {
      const callers = waiting.get(tenant) ?? [];
      const next = callers.shift();
      if (callers.length === 0) waiting.delete(tenant);
      begin(tenant);
      next?.();
      return;
    }
    free++;
    if (free === places) lastTurn.clear();
  };
  const wait = async (tenant: string, signal: AbortSignal): Promise<void> => {
    const callers = waiting.get(tenant) ?? [];
    if (callers.length >= maxWaiting) {
      throw new TooManyWaiting("busy", `${callers.length} requests of this namespace are waiting already`);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    callers.push(resolve);
    waiting.set(tenant, callers);
    try {
      await orAborted(promise, signal);
    } catch (error) {
      const index = callers.indexOf(resolve);
      // The place may have been granted in the same moment: then the next caller gets it.
      if (index === -1) release();
      else callers.splice(index, 1);
      if (callers.length === 0 && waiting.get(tenant) === callers) waiting.delete(tenant);
      throw error;
    }
  };

  return async ({ cluster, namespace }, signal) => {
    signal.throwIfAborted();
    // No name of a namespace has a slash.
    const tenant = `${cluster}/${namespace}`;
    if (free > 0) {
      free--;
      begin(tenant);
    } else await wait(tenant, signal);
    return { [Symbol.dispose]: release };
  };
}

/** Among tenants that have had no turn, the one that has waited longest. */
function longestAgo(tenants: Iterable<string>, lastTurn: ReadonlyMap<string, number>): string | undefined {
  let found: { readonly tenant: string; readonly turn: number } | undefined;
  for (const tenant of tenants) {
    const turn = lastTurn.get(tenant) ?? -1;
    if (found === undefined || turn < found.turn) found = { tenant, turn };
  }
  return found?.tenant;
}
