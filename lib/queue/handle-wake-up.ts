import { messageOf } from "../core/failure.ts";
import { subject } from "../core/object-ref.ts";
import type { Flow, Run } from "../core/ports/run.ts";
import type { WakeUp } from "../core/ports/wake-ups.ts";
import type { WorkItem } from "../core/ports/work-items.ts";
import { parseWorkKey, type WorkKey } from "../core/work-key.ts";
import { changeItem } from "./change-item.ts";
import { onFull } from "./cluster-rules.ts";
import type { ExtendVisibility } from "./keep-lease.ts";
import type { QueueDeps, RunnerDeps } from "./queue-deps.ts";
import type { End, Instant, WakeUpDecision } from "./rules.ts";
import type { Place } from "./run-places.ts";
import { runUnderLease, sendFollowUps } from "./run-under-lease.ts";

/** The run has to wait for a place in this process; nothing was written. */
interface Waiting {
  readonly kind: "wait";
  readonly exclusive: boolean;
}

interface Decided {
  readonly decision: WakeUpDecision | Waiting;
  /** As it is in the store now, with what was decided if that was written. */
  readonly item: WorkItem | undefined;
  readonly since: Instant;
}

/** A message in hand. */
export interface Delivery {
  readonly wakeUp: WakeUp;
  readonly extend: ExtendVisibility;
}

/**
 * Handles one wake-up completely; the message may be deleted once this resolves. Takes the object's lease (`rules.onWakeUp` decides,
 * `changeItem` writes it) and runs the flow under it. A flow that throws is no error here: its fault is stored and the run is tried
 * again. Throws if the queue's own work failed; the message then has to come again.
 *
 * @param signal aborted when the time is up, or with a {@link Shutdown} when the process ends
 */
export async function handleWakeUp(
  delivery: Delivery,
  flow: Flow,
  deps: RunnerDeps,
  signal: AbortSignal,
): Promise<void> {
  let place: Place | undefined;
  // Entered before the lease is taken, since its time starts then.
  const enters = (exclusive: boolean): boolean => {
    if (place !== undefined && (place.exclusive || !exclusive)) return true;
    place?.[Symbol.dispose]();
    place = deps.runPlaces.tryEnter(exclusive);
    return place !== undefined;
  };
  try {
    for (;;) {
      const { decision, item, since } = await decide(delivery.wakeUp, enters, deps, signal);
      if (decision.kind !== "wait") return await carryOut(decision, { item, since }, delivery, flow, deps, signal);
      place = await deps.runPlaces.enter(decision.exclusive, signal);
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
    case "readInput":
      return;
    case "forward":
      return deps.wakeUps.send(decision.wakeUp, decision.delayMs, signal);
    case "writeOnly":
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

/** Decides about the item and writes what was decided; nothing if the run cannot enter the process yet. */
async function decide(
  wakeUp: WakeUp,
  enters: (exclusive: boolean) => boolean,
  deps: RunnerDeps,
  signal: AbortSignal,
): Promise<Decided> {
  const key = parseWorkKey(wakeUp.key);
  const holder = deps.newHolder();
  let decision: Decided["decision"] = { kind: "drop" };
  const { item, since } = await changeItem(
    key,
    async (found) => {
      // Our own write that gave no answer has taken the lease: the decision of that try stands.
      if (found?.lease?.holder === holder) return { outcome: undefined };
      const waking = { wakeUp, holder, now: deps.clock.now() };
      decision = deps.rules.onWakeUp(found, { ...waking, input: undefined });
      if (decision.kind === "readInput") {
        const input = await readInput(key, deps, signal);
        decision = deps.rules.onWakeUp(found, { ...waking, input });
      }
      if (decision.kind === "run" && !enters(decision.item.died)) {
        decision = { kind: "wait", exclusive: decision.item.died };
      }
      return { item: "item" in decision ? decision.item : undefined, outcome: undefined };
    },
    deps,
    signal,
    { insistUntil: signal },
  );
  return { decision, item, since };
}

/** The present input of the object's run; null if it cannot be read now. */
async function readInput(key: WorkKey, deps: RunnerDeps, signal: AbortSignal): Promise<string | null> {
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
  const { outcome, dueInMs, failure } = result;
  const durationMs = clock.monotonic() - startedAt;
  const why = failure === undefined ? {} : { reason: failure.reason, error: failure.message };
  const fields = { key: run.key, outcome, dueInMs, durationMs, ...why };
  if (failedOutcomes.has(outcome)) log.error("reconcile failed", fields);
  else log.info("reconcile finished", fields);
  return { kind: "finished", result };
}

/** A run that waits for another object has not failed: the other one's run logs why. */
const failedOutcomes: ReadonlySet<string> = new Set(["failed", "stalled"]);

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
  if (announce) await deps.onParked(run, message);
  await deps.deadLetters.send({ key, attempts, message }, run.signal);
  return { kind: "parked" };
}

/**
 * Puts a wake-up aside that cannot be handled now, for a reason that is not its object. The requests stay, and no wake-up counts as
 * under way any longer, so the next request or sweep sends another at once.
 */
export async function setAside(key: WorkKey, deps: QueueDeps, signal: AbortSignal): Promise<void> {
  await changeItem(
    key,
    (found) => {
      const now = deps.clock.now();
      const isWaiting = found?.wakeUntil !== undefined && found.lease === undefined && found.wakeUntil > now;
      return { item: isWaiting ? { ...found, wakeUntil: now } : undefined, outcome: undefined };
    },
    deps,
    signal,
  );
}

/**
 * Sends a wake-up again after `delayMs` whose cluster has no place for a run now, unless there is nothing to do for it. The object's
 * requests stay, no lease is taken and no attempt counted.
 */
export async function postpone(wakeUp: WakeUp, delayMs: number, deps: QueueDeps, signal: AbortSignal): Promise<void> {
  const { outcome: again } = await changeItem(
    parseWorkKey(wakeUp.key),
    (found) => {
      const postponed = onFull(found, wakeUp, delayMs, deps.clock.now());
      return { item: postponed.item, outcome: postponed.again };
    },
    deps,
    signal,
  );
  if (again) await deps.wakeUps.send(wakeUp, delayMs, signal);
}
