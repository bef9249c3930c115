import { messageOf } from "../core/failure.ts";
import { subject } from "../core/object-ref.ts";
import { type Fence, LeaseLost } from "../core/ports/fence.ts";
import type { WorkItem } from "../core/ports/work-items.ts";
import { changeItem, instant } from "./change-item.ts";
import type { QueueDeps } from "./queue-deps.ts";
import type { Instant } from "./rules.ts";
import { leaseMs, renewEveryMs } from "./timing.ts";

const runEnded = new Error("the run has ended");

/** A lease that is renewed until {@link KeptLease.stop}. */
export interface KeptLease {
  readonly fence: Fence;
  /** Aborted together with the signal that {@link keepLease} was given, or with {@link LeaseLost}. */
  readonly signal: AbortSignal;
  /** Throws {@link LeaseLost} once another handler may hold the lease, or the signal's reason. */
  assert(): void;
  /** Whether the lease was lost because the store did not take its renewals, and not because this process stood still. */
  isCutOff(): boolean;
  /** Ends the renewals. Answers the item as last read. */
  stop(): Promise<WorkItem>;
}

/** Hides the message that the lease was taken for, as long as the lease lives. */
export type ExtendVisibility = (visibilityMs: number, signal: AbortSignal) => Promise<void>;

/**
 * Renews a lease in the background.
 *
 * @param taken the item as the write that took the lease left it
 * @param since the moment before that write was sent
 */
export function keepLease(
  taken: WorkItem,
  since: Instant,
  extend: ExtendVisibility,
  deps: QueueDeps,
  signal: AbortSignal,
): KeptLease {
  const { key, token } = taken;
  const lost = new AbortController();
  const stopped = new AbortController();
  let item = taken;
  let renewed = since;
  let hiding: Promise<void> = Promise.resolve();
  let renewalFailed = false;

  const isOver = () => stopped.signal.aborted || lost.signal.aborted;
  const writable = () => deps.rules.mayWrite(renewed, instant(deps));
  const lose = () => lost.abort(new LeaseLost(`${subject(key)}: another handler holds the lease, or may hold it`));

  /** Answers false if the lease is no longer ours. */
  const renew = async (): Promise<boolean> => {
    const {
      item: latest,
      outcome: ours,
      since: sent,
    } = await changeItem(
      key,
      (found) => {
        const next = deps.rules.onRenew(found, token, deps.clock.now());
        return { item: next, outcome: next !== undefined };
      },
      deps,
      stopped.signal,
      { known: item },
    );
    if (!ours || latest === undefined) return false;
    item = latest;
    renewed = sent;
    return true;
  };

  /** Hides the message for one lease, so that a dead holder's message comes back then and not after the queue's own time. */
  const hideMessage = async (): Promise<void> => {
    try {
      await extend(leaseMs, stopped.signal);
    } catch (error) {
      if (!isOver()) deps.log.warn("message in hand not hidden", { key, error: messageOf(error) });
    }
  };

  const renewing = (async () => {
    while (!isOver()) {
      // Not waited for: a queue that answers slowly must not keep the lease from being renewed.
      hiding = hideMessage();
      try {
        await deps.clock.sleep(renewEveryMs, stopped.signal);
        if (!(await renew())) lose();
        renewalFailed = false;
      } catch (error) {
        if (isOver()) return;
        renewalFailed = true;
        deps.log.warn("lease not renewed", { key, error: messageOf(error) });
        if (!writable()) lose();
      }
    }
  })();

  return {
    fence: { key, token },
    signal: AbortSignal.any([signal, lost.signal]),
    assert() {
      signal.throwIfAborted();
      if (!writable()) lose();
      lost.signal.throwIfAborted();
    },
    isCutOff: () => renewalFailed && lost.signal.aborted,
    async stop() {
      stopped.abort(runEnded);
      await Promise.all([renewing, hiding]);
      return item;
    },
  };
}
