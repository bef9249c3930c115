import { messageOf } from "../core/failure.ts";
import { subject } from "../core/object-ref.ts";
import type { WakeUp } from "../core/ports/wake-ups.ts";
import type { WorkItem } from "../core/ports/work-items.ts";
import type { Flow, Run } from "../core/run.ts";
import { parseWorkKey, type WorkKey } from "../core/work-key.ts";
import { changeItem } from "./change-item.ts";
import type { ExtendVisibility } from "./keep-lease.ts";
import type { Place } from "./process-lock.ts";
import type { RunnerDeps } from "./queue-deps.ts";
import type { Instant } from "./rules/may-write.ts";
import type { End } from "./rules/on-end.ts";
import type { WakeUpDecision } from "./rules/on-wake-up.ts";
import { runUnderLease } from "./run-under-lease.ts";
import { sendFollowUps } from "./send-follow-ups.ts";

/** The run that was decided on has to wait for a place in this process; nothing was written. */
interface Waiting {
  readonly kind: "wait";
  readonly alone: boolean;
}

interface Decided {
  readonly decision: WakeUpDecision | Waiting;
  /** As it is now: as written, where the decision was to write. */
  readonly item: WorkItem | undefined;
  readonly since: Instant;
}

/** A message in hand. */
export interface Delivery {
  readonly wakeUp: WakeUp;
  readonly extend: ExtendVisibility;
}

/**
 * Handles one wake-up to its end; the message may be deleted once this resolves. A flow that throws is no error here: it
 * is stored and tried again. Throws where the queue's own work could not be done: then the message has to come again.
 * @param signal aborted when the time is up, or with a {@link HandBack} when the process ends.
 */
export async function handleWakeUp(
  delivery: Delivery,
  flow: Flow,
  deps: RunnerDeps,
  signal: AbortSignal,
): Promise<void> {
  let place: Place | undefined;
  // Entered before the lease is taken, whose time runs from then.
  const enters = (alone: boolean): boolean => {
    if (place !== undefined && (place.alone || !alone)) return true;
    place?.[Symbol.dispose]();
    place = deps.processLock.tryEnter(alone);
    return place !== undefined;
  };
  try {
    for (;;) {
      const { decision, item, since } = await decide(delivery.wakeUp, enters, deps, signal);
      if (decision.kind !== "wait") return await carryOut(decision, { item, since }, delivery, flow, deps, signal);
      place = await deps.processLock.enter(decision.alone, signal);
    }
  } finally {
    place?.[Symbol.dispose]();
  }
}

async function carryOut(
  decision: WakeUpDecision,
  { item, since }: Pick<Decided, "item" | "since">,
  { extend }: Delivery,
  flow: Flow,
  deps: RunnerDeps,
  signal: AbortSignal,
): Promise<void> {
  switch (decision.kind) {
    case "drop":
    case "look":
      return;
    case "forward":
      return deps.wakeUps.send(decision.wakeUp, decision.delayMs, signal);
    case "settle":
      return decision.wait ? sendFollowUps(decision.item, deps, signal) : undefined;
    case "run": {
      const taken = { item: item ?? decision.item, since };
      const { key, attempts, died } = taken.item;
      if (died) deps.log.warn("the process of the last run died, this one runs alone", { key, attempts });
      return runUnderLease(taken, (run) => runFlow(flow, run, deps), extend, deps, signal);
    }
    case "park": {
      const taken = { item: item ?? decision.item, since };
      return runUnderLease(taken, (run) => park(run, decision, deps), extend, deps, signal);
    }
  }
}

/** Decides about the item as it is, and writes down what was decided; nothing where a run does not enter the process yet. */
async function decide(
  wakeUp: WakeUp,
  enters: (alone: boolean) => boolean,
  deps: RunnerDeps,
  signal: AbortSignal,
): Promise<Decided> {
  const key = parseWorkKey(wakeUp.key);
  const holder = deps.newHolder();
  let decision: Decided["decision"] = { kind: "drop" };
  const { item, since } = await changeItem(
    key,
    async (found) => {
      // A try of ours that gave no answer has taken the lease: what was decided then stands.
      if (found?.lease?.holder === holder) return { outcome: undefined };
      const waking = { wakeUp, holder, now: deps.clock.now() };
      decision = deps.rules.onWakeUp(found, { ...waking, input: undefined });
      if (decision.kind === "look") {
        const input = await lookAtInput(key, deps, signal);
        decision = deps.rules.onWakeUp(found, { ...waking, input });
      }
      if (decision.kind === "run" && !enters(decision.item.died)) {
        decision = { kind: "wait", alone: decision.item.died };
      }
      return { item: "item" in decision ? decision.item : undefined, outcome: undefined };
    },
    deps,
    signal,
    { insistUntil: signal },
  );
  return { decision, item, since };
}

/** Null where it cannot be told now. */
async function lookAtInput(key: WorkKey, deps: RunnerDeps, signal: AbortSignal): Promise<string | null> {
  try {
    return await deps.inputOf(key, signal);
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn("input of a failing object not read", { key, error: messageOf(error) });
    return null;
  }
}

async function runFlow(flow: Flow, run: Run, { clock, log }: RunnerDeps): Promise<End> {
  const startedAt = clock.monotonic();
  const result = await flow(run);
  const { outcome, dueInMs } = result;
  log.info("reconcile finished", { key: run.key, outcome, dueInMs, durationMs: clock.monotonic() - startedAt });
  return { kind: "finished", result };
}

async function park(
  run: Run,
  { item, announce }: { item: WorkItem; announce: boolean },
  deps: RunnerDeps,
): Promise<End> {
  const { key } = run;
  const attempts = item.attempts - 1;
  const fault = item.fault ?? "the handler was killed or ran out of time";
  const message = `${subject(key)}: ${attempts} runs in a row did not end, the last because: ${fault}. It is not run again until its spec or its artifact changes`;
  deps.log.error("object parked", { key, attempts, fault });
  if (announce) await deps.onPoisoned(run, message);
  await deps.deadLetters.send({ key, attempts, message }, run.signal);
  return { kind: "parked" };
}
