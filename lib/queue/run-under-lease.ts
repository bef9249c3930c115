import { messageOf } from "../core/failure.ts";
import type { EventSink } from "../core/ports/event-sink.ts";
import type { Run } from "../core/ports/run.ts";
import { holdsLease, type WorkItem } from "../core/ports/work-items.ts";
import { GateClosed } from "../core/ports/write-gate.ts";
import { changeItem, instant } from "./change-item.ts";
import { keepEvents } from "./keep-events.ts";
import { type ExtendVisibility, type KeptLease, keepLease } from "./keep-lease.ts";
import type { QueueDeps } from "./queue-deps.ts";
import type { End, Instant } from "./rules.ts";

export const maxFaultLength = 1_000;

/**
 * The reason to abort a handler's signal with when its process has to end (SIGTERM): the run is handed back at once and
 * not counted as an attempt. Any other reason, such as the end of the time limit, counts.
 */
export class Shutdown extends Error {
  override readonly name = "Shutdown";
}

/** A lease that was just taken. */
export interface Taken {
  readonly item: WorkItem;
  /** The moment before the write that took it was sent. */
  readonly since: Instant;
}

/**
 * Does `work` while it keeps the lease, then stores the end that `work` answered, or that it failed, and sends the messages that
 * the item needs to go on. An outage of the store is no attempt of the object: storing the end is tried for as long as the
 * handler has time, and a run that lost its lease that way is handed back. Throws only if the end could not be stored or sent.
 */
export async function runUnderLease(
  { item, since }: Taken,
  work: (run: Run) => Promise<End>,
  extend: ExtendVisibility,
  deps: QueueDeps,
  signal: AbortSignal,
): Promise<void> {
  // The write that took the lease was answered too late: too little of it is left.
  if (!deps.rules.mayWrite(since, instant(deps))) return releaseLease(item, { kind: "cutOff" }, deps, signal);
  const lease = keepLease(item, since, extend, deps, signal);
  const events = deps.events && keepEvents(deps.events, item, deps);
  const tellThenWork = async (run: Run): Promise<End> => {
    await events?.tellKept(run.signal);
    return work(run);
  };
  const end = await endOf(tellThenWork, runOf(item, lease, events, deps), lease, deps, signal);
  const last = await lease.stop();
  await releaseLease(last, end, deps, signal);
}

async function endOf(
  work: (run: Run) => Promise<End>,
  run: Run,
  lease: KeptLease,
  deps: QueueDeps,
  signal: AbortSignal,
): Promise<End> {
  try {
    return await work(run);
  } catch (error) {
    if (signal.reason instanceof Shutdown) return { kind: "handedBack" };
    if (error instanceof GateClosed) {
      deps.log.info("run stopped, the cluster may no longer be written to", { key: run.key });
      return { kind: "handedBack" };
    }
    if (lease.isCutOff()) {
      deps.log.warn("run stopped, its lease could not be renewed", { key: run.key, error: messageOf(error) });
      return { kind: "cutOff" };
    }
    deps.log.error("run did not end well", { key: run.key, error: messageOf(error) });
    return { kind: "failed", fault: messageOf(error).slice(0, maxFaultLength) };
  }
}

function runOf(item: WorkItem, lease: KeptLease, events: EventSink | undefined, deps: QueueDeps): Run {
  return {
    key: item.key,
    signal: lease.signal,
    fence: lease.fence,
    assertLease: () => lease.assert(),
    carried: item.carried,
    isRequested: item.started > item.handled,
    isRetry: item.attempts > 1 || item.fault !== undefined || item.died,
    ...(events === undefined ? {} : { events }),
    superseded: () => isSuperseded(item, deps, lease.signal),
  };
}

async function isSuperseded({ key, token, started }: WorkItem, deps: QueueDeps, signal: AbortSignal): Promise<boolean> {
  try {
    const found = await deps.items.get(key, signal);
    return found === undefined || found.token !== token || found.requested > started;
  } catch (error) {
    signal.throwIfAborted();
    // This only ends a wait early: not worth a failed run.
    deps.log.warn("newer requests not looked for", { key, error: messageOf(error) });
    return false;
  }
}

/**
 * Not under the handler's signal: the end has to be stored above all when the time is up. The store limits its own calls, and
 * until `insistUntil` is aborted they are tried again.
 */
async function releaseLease(last: WorkItem, end: End, deps: QueueDeps, insistUntil: AbortSignal): Promise<void> {
  const { signal } = new AbortController();
  const { key, token } = last;
  const { item, outcome: ended } = await changeItem(
    key,
    (found, inDoubt) => {
      const next = deps.rules.onEnd(found, token, end, deps.clock.now());
      // Our own write that gave no answer has dropped the lease: another handler would have raised the token.
      const wasOurs = inDoubt && found?.token === token && !holdsLease(found, { key, token });
      return { item: next, outcome: next !== undefined || wasOurs };
    },
    deps,
    signal,
    { known: last, insistUntil },
  );
  if (item === undefined || !ended) {
    deps.log.warn("run ended after its lease", { key, end: end.kind });
    return;
  }
  await sendFollowUps(item, deps, signal);
}

/** Sends the messages that an item without a lease needs to go on. */
export async function sendFollowUps(item: WorkItem, deps: QueueDeps, signal: AbortSignal): Promise<void> {
  for (const { wakeUp, delayMs } of deps.rules.followUps(item, deps.clock.now())) {
    await deps.wakeUps.send(wakeUp, delayMs, signal);
  }
}
