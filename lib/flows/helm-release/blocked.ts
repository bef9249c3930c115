import { findCondition } from "../../api/condition.ts";
import { type Cause, waitsOrFailed } from "../../core/event-relation.ts";
import { backOffMs, type EventReason, outcomeOfWait } from "../../core/failure.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { terminalPrefix } from "../../health/health-rules.ts";
import type { EventToRecord } from "../record-event.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { type Carried, toCarried } from "./carried.ts";
import { handled, observed, reconciling, withConditions, withoutConditions } from "./release-status.ts";

/** Something that the run needs is not there or not allowed, so it ends before it works on the release. */
export class Blocked extends Error {
  override readonly name = "Blocked";
  readonly reason: EventReason;
  /** `terminal`: only a change helps. `soon`: after 30 s, or when what it waits for changes. */
  readonly retry: "backoff" | "soon" | "terminal";
  /** The event to record, if Flux records one. */
  readonly event: Pick<EventToRecord, "message" | "type"> | undefined;
  /** The object that has to be ready first; undefined if that is not the cause. */
  readonly waitsFor: Cause | undefined;
  /** What it waits for does not exist: the run has failed, since no other run reports it. */
  readonly isMissing: boolean;

  constructor(
    reason: EventReason,
    message: string,
    options: {
      readonly retry: Blocked["retry"];
      readonly event?: Blocked["event"];
      readonly cause?: unknown;
      readonly waitsFor?: Cause | undefined;
      readonly isMissing?: boolean;
    },
  ) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.retry = options.retry;
    this.event = options.event;
    this.waitsFor = options.waitsFor;
    this.isMissing = options.isMissing === true;
  }

  /** The same with other texts, for example without the values of Secrets. It has no cause, which could have them. */
  shownBy(show: (text: string) => string): Blocked {
    const { event, isMissing, retry, waitsFor } = this;
    const shown = event && { ...event, message: show(event.message) };
    return new Blocked(this.reason, show(this.message), { retry, event: shown, waitsFor, isMissing });
  }
}

/** A configuration fault that only a change corrects, with its event. */
export function terminal(reason: EventReason, message: string): Blocked {
  return new Blocked(reason, message, { retry: "terminal", event: { type: "Warning", message } });
}

/** Reports what keeps the run from the release (reference helmrelease 7). */
export async function reportBlocked(
  { event, isMissing, message, reason, retry, waitsFor }: Blocked,
  carried: Carried,
  ctx: HelmReleaseContext,
): Promise<FlowResult> {
  // While it waits it checks repeatedly: the cause is reported once.
  const known = findCondition(ctx.status().conditions ?? [], "Ready");
  const isTold = retry === "soon" && known?.reason === reason && known.message === message;
  if (event !== undefined && !isTold) {
    // Flux's conditions say that only a change helps, its event says the cause alone.
    const cause = event.message.replace(terminalPrefix, "");
    ctx.record({ ...event, message: cause, reason, annotations: {}, relation: waitsOrFailed(waitsFor) });
  }
  const failure = { reason, message };
  const ready = { type: "Ready", status: "False", ...failure } as const;
  if (retry === "terminal") {
    const stalled = { type: "Stalled", status: "True", ...failure } as const;
    const status = withConditions(withoutConditions(ctx.status(), "Reconciling"), ctx, stalled, ready);
    await ctx.write(handled(observed(status, ctx), ctx));
    return { outcome: "failed", failure, dueInMs: undefined, carried: toCarried({ failures: 0 }) };
  }
  const waiting = reconciling(ctx.status(), { reason: "Progressing", message: "Fulfilling prerequisites" }, ctx);
  await ctx.write(handled(withConditions(waiting, ctx, ready), ctx));
  const { timing } = ctx.deps;
  if (retry === "soon") {
    const next = toCarried({ ...carried, failures: 0, waits: (carried.waits ?? 0) + 1 });
    return { outcome: outcomeOfWait({ isMissing }), failure, dueInMs: timing.requeueDependencyMs, carried: next };
  }
  const dueInMs = backOffMs(carried.failures, timing.retryDelay);
  return { outcome: "failed", failure, dueInMs, carried: toCarried({ ...carried, failures: carried.failures + 1 }) };
}
