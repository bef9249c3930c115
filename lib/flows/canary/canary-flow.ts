import { createHash } from "node:crypto";
import { CanarySpec, canaryPhases } from "../../api/canary.ts";
import { parseLive } from "../../api/parse-live.ts";
import { intervalMs } from "../../canary/analysis.ts";
import type { Canary } from "../../canary/canary.ts";
import { canaryManager } from "../../canary/canary-deps.ts";
import { inPhase, withCondition, withoutTarget } from "../../canary/run/phase-status.ts";
import { type ReadStatus, readStatus } from "../../canary/run/read-status.ts";
import { isInFlight } from "../../canary/run/run-state.ts";
import { specFault } from "../../canary/verify-canary.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { Flow, FlowResult, Run } from "../../core/ports/run.ts";
import { specTopic } from "../../core/topics.ts";
import { reportEvent } from "../record-event.ts";
import { type CanaryContext, canaryContext, servedCanary } from "./canary-context.ts";
import type { CanaryDeps } from "./canary-parts.ts";
import { carriedTo } from "./carried.ts";
import { ensureFinalizer, finalize } from "./finalize.ts";
import { isOfStep } from "./of-step.ts";
import { pacedStep } from "./paced-step.ts";
import { canaryListings, type ListedCanary, type TargetOwner, targetTaken } from "./same-target.ts";
import { topicsOf } from "./subscribe.ts";

/**
 * The reconcile of a Canary: one step of its release, and then nothing until the next one is due. A Canary at rest runs only when its target
 * changes. Looks only at present state, so a run may be repeated or killed anywhere; what runs carry over decides nothing but time.
 */
export function canaryFlow(deps: CanaryDeps): Flow {
  const list = canaryListings(deps.clock);
  return async (run) => {
    const since = deps.clock.monotonic();
    const live = await deps.home.get({ ...run.key, ...servedCanary }, run.signal);
    if (live === undefined) return absent(deps, run);
    try {
      const read = readStatus(live["status"]);
      const ctx = canaryContext(canaryOf(live, read), carriedTo(run), run, deps);
      const asked = { namespace: ctx.canary.namespace, home: ctx.home, signal: run.signal };
      return await reconcile(ctx, read, () => list(asked, since));
    } catch (error) {
      if (error instanceof ApiError && blamingCodes.has(error.code)) return refusedWrite(live, error, run, deps);
      if (!(error instanceof Failure)) throw error;
      return refuse(live, error, run, deps);
    }
  };
}

async function reconcile(
  ctx: CanaryContext,
  read: ReadStatus,
  others: () => Promise<readonly ListedCanary[]>,
): Promise<FlowResult> {
  const { canary, deps, run } = ctx;
  if (canary.live.metadata.deletionTimestamp !== undefined) return end(ctx);
  await tellUnread(read, ctx);
  const fault = specFault(canary, deps.settings);
  if (fault !== undefined) {
    // As in Flagger there is neither a status nor an Event of it (reference canary, statement 41).
    const failure = { reason: "InvalidSpec", message: `invalid canary spec: ${fault}` };
    return { outcome: "stalled", failure, dueInMs: undefined };
  }
  await ensureFinalizer(ctx);
  const { takenBy: before } = ctx.carried;
  const subscribe = (topics: readonly string[]) => deps.subscriptions.subscribe(topics, run.fence, run.signal);
  // Before the look, so that no change in between is missed.
  await subscribe(before === undefined ? topicsOf(ctx, canary.status) : [ownerTopic(run, before)]);
  const taken = mayBeTaken(ctx) ? targetTaken(ctx, await others()) : undefined;
  if (taken !== undefined) return leave(taken, ctx);
  if (before !== undefined) await subscribe(topicsOf(ctx, canary.status));
  await showPhase(ctx);
  if (canary.spec.suspend === true) return suspend(ctx);
  return pacedStep(ctx);
}

/** Throws a `Failure` that names every invalid field. */
function canaryOf(live: LiveObject, { status }: ReadStatus): Canary {
  const spec = parseLive(live, "spec", CanarySpec);
  const { name, namespace = "", uid } = live.metadata;
  return { live, name, namespace, uid, spec, analysis: spec.analysis, status };
}

/**
 * Says which fields of the status cannot be read. The step continues with the others and rewrites them. Throws a `Failure` for an
 * unknown phase: it is unknown who has the traffic, and the initialisation would scale the target to zero.
 */
async function tellUnread({ faults, isPhaseUnknown }: ReadStatus, ctx: CanaryContext): Promise<void> {
  const { live } = ctx.canary;
  if (faults.length === 0) return;
  const what = `${subject(refOf(live))}: its status cannot be read, since another program or a person has changed it: ${faults.join("; ")}`;
  if (isPhaseUnknown) {
    const mend = `no step is taken until status.phase is one of ${canaryPhases.join(", ")}: set it with kubectl edit --subresource=status, then run sluice reconcile canary ${live.metadata.name}`;
    throw new Failure("InvalidSpec", `${what}; ${mend}`);
  }
  await ctx.say("Warning", `${what}; these fields are treated as empty`);
}

/** Other Canaries are looked for before a run begins, not in each step. */
function mayBeTaken({ canary }: CanaryContext): boolean {
  const { phase = "Initializing" } = canary.status;
  return phase !== "Waiting" && !isInFlight(phase);
}

/** A new Canary gets a phase at once. Its next run removes the conditions that say that it was parked. */
async function showPhase(ctx: CanaryContext): Promise<void> {
  const { conditions = [], phase } = ctx.canary.status;
  if (phase === undefined) return ctx.write(inPhase(ctx.status(), "Initializing", ctx.canary.analysis, ctx.at()));
  const promoted = conditions.filter(({ type }) => type === "Promoted");
  if (promoted[0]?.reason !== phase) return ctx.write(withCondition(ctx.status(), ctx.at()));
  if (promoted.length !== conditions.length) await ctx.write({ ...ctx.status(), conditions: promoted });
}

const leftMs = 60_000;

function ownerTopic({ key }: Run, name: string): string {
  return specTopic({ ...key, name });
}

/**
 * Waits without runs until the other Canary changes or goes. It is known only after the search that has found it, so a second search
 * follows the subscription.
 */
async function leave({ message, name }: TargetOwner, ctx: CanaryContext): Promise<FlowResult> {
  const { deps, run } = ctx;
  const isFirst = ctx.carried.takenBy !== name;
  await ctx.write(withoutTarget(ctx.status(), message, ctx.at()));
  if (isFirst) {
    await ctx.say("Warning", message);
    await deps.subscriptions.subscribe([ownerTopic(run, name)], run.fence, run.signal);
  }
  return {
    ...{
      outcome: "stalled",
      failure: { reason: "TargetTaken", message },
      dueInMs: isFirst ? leftMs : undefined,
      carried: { takenBy: name },
    },
    ...(isFirst ? {} : { isQuiet: true }),
  };
}

/** The event is written once, not each time that a suspended Canary is woken. The first step after the suspension keeps the interval. */
async function suspend(ctx: CanaryContext): Promise<FlowResult> {
  // An outage is over once a run comes so far. The last step's facts about the Services may have changed since.
  const { isSuspended: isTold = false, memory: _, outage: __, ...carried } = ctx.carried;
  if (!isTold) await ctx.say("Normal", "skipping canary run as object is suspended");
  return {
    ...{ outcome: "suspended", dueInMs: undefined, carried: { ...carried, isSuspended: true } },
    ...(isTold ? { isQuiet: true } : {}),
  };
}

/**
 * What blocks the deletion is reported, and the deletion is tried again: a run that threw would not be repeated for long, and no
 * message would say why.
 */
async function end(ctx: CanaryContext): Promise<FlowResult> {
  const { canary, deps, run } = ctx;
  await deps.subscriptions.subscribe([], run.fence, run.signal);
  try {
    return await finalize(ctx);
  } catch (error) {
    if (!isOfStep(error)) throw error;
    await ctx.say("Warning", messageOf(error));
    const failure = { reason: "ReconciliationFailed", message: messageOf(error) };
    return { outcome: "failed", failure, dueInMs: intervalMs(canary.analysis) };
  }
}

async function absent({ subscriptions }: CanaryDeps, run: Run): Promise<FlowResult> {
  await subscriptions.subscribe([], run.fence, run.signal);
  return { outcome: "absent", dueInMs: undefined };
}

/** The API server answers them to a write with a field that it, or a policy, does not accept. */
const blamingCodes = new Set([400, 422]);

/**
 * The API server refuses what every run writes, its status above all: the cause is an invalid field of the Canary, or a policy. A run that
 * threw would park the Canary. Told once; a change of the Canary starts the next run at once.
 */
async function refusedWrite(live: LiveObject, error: ApiError, run: Run, deps: CanaryDeps): Promise<FlowResult> {
  const { message: why } = error;
  // A hash, since the text may be of any length. The memory goes: the change that has woken this run is not looked at yet.
  const told = createHash("sha256").update(why).digest("hex");
  const { memory: _, outage: __, ...before } = carriedTo(run);
  const carried = { ...before, refusedWrite: told };
  const mend = "correct the field that it names, for example with kubectl edit, or the policy that refuses it";
  const message = `${subject(refOf(live))}: no step can run, since the API server refuses a write: ${why}; ${mend}`;
  const result = { outcome: "failed", failure: { reason: error.reason, message }, dueInMs: leftMs, carried };
  if (before.refusedWrite === told) return { ...result, isQuiet: true };
  await warn(live, message, run, deps);
  return result;
}

async function refuse(live: LiveObject, failure: Failure, run: Run, deps: CanaryDeps): Promise<FlowResult> {
  const { message } = failure;
  await warn(live, message, run, deps);
  return { outcome: "stalled", failure, dueInMs: undefined };
}

async function warn(live: LiveObject, message: string, run: Run, deps: CanaryDeps): Promise<void> {
  const event = { type: "Warning", reason: "Synced", message, annotations: {} } as const;
  await reportEvent(deps.home, live, event, canaryManager, run, deps);
}
