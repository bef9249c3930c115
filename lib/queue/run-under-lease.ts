import { messageOf } from "../core/failure.ts";
import { holdsLease, type WorkItem } from "../core/ports/work-items.ts";
import { GateClosed } from "../core/ports/write-gate.ts";
import type { Run } from "../core/run.ts";
import { changeItem, instant } from "./change-item.ts";
import { HandBack } from "./hand-back.ts";
import { type ExtendVisibility, type KeptLease, keepLease } from "./keep-lease.ts";
import type { QueueDeps } from "./queue-deps.ts";
import type { Instant } from "./rules/may-write.ts";
import type { End } from "./rules/on-end.ts";
import { sendFollowUps } from "./send-follow-ups.ts";

export const maxFaultLength = 1_000;

/** A lease just taken. */
export interface Taken {
  readonly item: WorkItem;
  /** The moment before the write that took it was sent. */
  readonly since: Instant;
}

/**
 * Does `work` while keeping the lease, then lets go of it as `work` said, or as failed where it threw, and sends what the
 * item needs to go on. What keeps the state from answering is no attempt of the object: the end is tried to be stored for as
 * long as the handler has time, and a run that lost its lease that way is handed back. Throws only where the end could not
 * be stored or sent.
 */
export async function runUnderLease(
  { item, since }: Taken,
  work: (run: Run) => Promise<End>,
  extend: ExtendVisibility,
  deps: QueueDeps,
  signal: AbortSignal,
): Promise<void> {
  // The answer to the write that took it came too late to begin.
  if (!deps.rules.mayWrite(since, instant(deps))) return letGo(item, { kind: "cutOff" }, deps, signal);
  const lease = keepLease(item, since, extend, deps, signal);
  const end = await endOf(work, runOf(item, lease, deps), lease, deps, signal);
  const last = await lease.stop();
  await letGo(last, end, deps, signal);
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
    if (signal.reason instanceof HandBack) return { kind: "handedBack" };
    if (error instanceof GateClosed) {
      deps.log.info("run stopped, nothing may be written to the cluster any more", { key: run.key });
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

function runOf(item: WorkItem, lease: KeptLease, deps: QueueDeps): Run {
  return {
    key: item.key,
    signal: lease.signal,
    fence: lease.fence,
    assertLease: () => lease.assert(),
    memo: item.memo,
    superseded: () => isSuperseded(item, deps, lease.signal),
  };
}

async function isSuperseded({ key, token, started }: WorkItem, deps: QueueDeps, signal: AbortSignal): Promise<boolean> {
  try {
    const found = await deps.items.get(key, signal);
    return found === undefined || found.token !== token || found.requested > started;
  } catch (error) {
    signal.throwIfAborted();
    // Only a reason to end a wait early: not worth a failed run.
    deps.log.warn("newer requests not looked for", { key, error: messageOf(error) });
    return false;
  }
}

/**
 * Not under the handler's signal: the end has to be stored most of all when time is up. The store limits its own calls, and
 * until then it is tried again.
 */
async function letGo(last: WorkItem, end: End, deps: QueueDeps, insistUntil: AbortSignal): Promise<void> {
  const { signal } = new AbortController();
  const { key, token } = last;
  const { item, outcome: ended } = await changeItem(
    key,
    (found, inDoubt) => {
      const next = deps.rules.onEnd(found, token, end, deps.clock.now());
      // A try of ours that gave no answer has dropped it: nobody else can without a new token.
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
