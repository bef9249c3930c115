import { z } from "zod";
import { isTrue } from "../../api/condition.ts";
import type { Artifact, SourceSpec } from "../../api/source.ts";
import { allEnded } from "../../core/concurrency.ts";
import { parseDuration } from "../../core/duration.ts";
import { waitsOrFailed } from "../../core/event-relation.ts";
import { backOffMs, type Failure, outcomeOfWait } from "../../core/failure.ts";
import type { ObjectSelector } from "../../core/follows.ts";
import type { FlowResult, Run } from "../../core/ports/run.ts";
import { selectionTopic, sourceTopic } from "../../core/topics.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { spreadInterval } from "../interval.ts";
import { pushedAt } from "./pushed-at.ts";
import { failed, isShown, stalled, stored, wasFailing } from "./source-conditions.ts";
import type { SourceContext } from "./source-context.ts";
import type { Pulled, Resolved } from "./source-kind.ts";
import { forgetReplaced, withAddresses } from "./stored-artifact.ts";

/**
 * The artifact for which consumers were last woken. Saved with the end of a run: if a run ended between its status and its wake-ups,
 * it is older than the artifact in the status.
 */
const Announced = z.object({ announced: z.string() });

/** Failures in a row, kept from run to run so that the waits between them grow. Without it they start from the first. */
const Failures = z.object({ failures: z.number().int().min(0) });

/**
 * The artifact of the present revision is stored: records an event if the artifact is new, updates the status, and wakes the
 * consumers.
 *
 * @param pulled what this run has stored; undefined if the artifact was stored before
 */
export async function reportStored(
  { interval }: SourceSpec,
  resolved: Resolved,
  pulled: Pulled | undefined,
  ctx: SourceContext,
): Promise<FlowResult> {
  const { carried, isAnnounced, messages, noted, reasons, revision } = resolved;
  const { before, deps, live, run } = ctx;
  const status = withAddresses({ ...ctx.status(), ...noted }, ctx);
  const { artifact } = status;
  const isNewContent = before.artifact?.digest !== artifact?.digest;
  const announced = `${revision} ${artifact?.digest}`;
  const isNews =
    Announced.safeParse(run.carried).data?.announced !== announced || !isTrue(before.conditions ?? [], "Ready");
  const isTold = artifact !== undefined && (isNewContent || wasFailing(before));
  const recorded = recordStored(resolved, pulled, isTold ? artifact : undefined, ctx);
  // Before the status, which the next run takes as proof that it was sent. No run depends on the event that nothing has changed.
  if (isTold) await recorded;
  await allEnded([
    recorded,
    ctx.conclude(stored(status, pulled?.stored ?? messages.stored, ctx.now(), reasons?.stored)),
  ]);
  // After the status is written: a consumer that wakes must find the new revision.
  if (isNews) await wakeConsumers(ctx, `new artifact of ${formatWorkKey(ctx.run.key)}`);
  else if (before.observedGeneration !== live.metadata.generation) await wakeReleases(ctx, "new generation");
  if (isNewContent) await forgetReplaced(ctx);
  const finding = await judgeFinding(isAnnounced, revision, ctx);
  if (finding === "missed") {
    deps.metrics.record(run.key, { EventsMissed: 1 }, { revision });
    deps.log.warn("revision found by the interval, no event announced it", { ...run.key, revision });
  }
  const dueInMs = spreadInterval(parseDuration(interval ?? defaultInterval), deps.jitter(), deps.timing);
  return {
    outcome: isNews ? "stored" : "unchanged",
    ...(isNews ? {} : { isQuiet: true }),
    dueInMs: finding === "too early" ? Math.min(dueInMs ?? eventMs, eventMs) : dueInMs,
    carried: { ...carried, announced, ...(finding === "too early" ? { unannounced: revision } : {}) },
    seen: { objectUid: live.metadata.uid, clusterUid: await ctx.home.uid(run.signal), revision },
  };
}

/**
 * Records that the artifact is stored, if it is given, and that nothing has changed, if this run has pulled nothing: the latter is for users
 * who look at the object, and Flux does not send it to alerts (reference 1.9).
 */
async function recordStored(
  { madeFrom = [], messages, reasons, revision }: Resolved,
  pulled: Pulled | undefined,
  artifact: Artifact | undefined,
  ctx: SourceContext,
): Promise<void> {
  const { before } = ctx;
  const said = pulled === undefined ? ({ type: "Normal", annotations: {}, isTrace: true } as const) : undefined;
  // Flux tells it while it looks at the content, and what a kind says of its own at the end, as recorded.
  if (said !== undefined && messages.unchanged === undefined) {
    const message = `artifact up-to-date with remote revision: '${revision}'`;
    await ctx.record({ ...said, reason: "ArtifactUpToDate", message });
  }
  if (artifact !== undefined) {
    const isNewContent = before.artifact?.digest !== artifact.digest;
    await ctx.record({
      type: "Normal",
      reason: reasons?.stored ?? (isNewContent ? "NewArtifact" : "Succeeded"),
      message: pulled?.message ?? (await messages.event(artifact)),
      annotations: {
        "source.toolkit.fluxcd.io/revision": artifact.revision,
        "source.toolkit.fluxcd.io/digest": artifact.digest,
      },
      relation: isTrue(before.conditions ?? [], "Ready") ? undefined : { kind: "recovered", from: madeFrom },
    });
  }
  if (said !== undefined && messages.unchanged !== undefined) await ctx.record({ ...said, ...messages.unchanged });
}

/** As in Flux, of a spec without one. */
const defaultInterval = "1m";

/** An event may be on its way for this long. */
const eventMs = 60_000;

/** The revision that the interval found while its event may still have been on its way, kept for the next run. */
const Unannounced = z.object({ unannounced: z.string() });

/**
 * Whether the interval has found a revision that an event should have announced. Too early to decide while the event may still
 * arrive: if the time of the push is unknown or recent, the next run reports it, unless the event itself requests that run.
 */
async function judgeFinding(
  isAnnounced: boolean,
  revision: string,
  ctx: SourceContext,
): Promise<"missed" | "too early" | "no finding"> {
  const { before, deps, run } = ctx;
  if (run.isRequested) return "no finding";
  if (Unannounced.safeParse(run.carried).data?.unannounced === revision) return "missed";
  if (before.artifact === undefined || before.artifact.revision === revision) return "no finding";
  if (!isAnnounced && !(await isSelected(ctx))) return "no finding";
  const now = deps.clock.now();
  const { metadata } = ctx.status().artifact ?? {};
  const lastUpdateTime = new Date(now).toISOString();
  const pushed = pushedAt({ lastUpdateTime, ...(metadata === undefined ? {} : { metadata }) }) ?? now;
  return now - pushed >= eventMs ? "missed" : "too early";
}

/** Whether a Receiver selects the source, so that a webhook tells of its pushes. */
async function isSelected({ deps, live, run }: SourceContext): Promise<boolean> {
  const { name, labels = {} } = live.metadata;
  const selects = (one: ObjectSelector): boolean =>
    "name" in one
      ? one.name === name
      : Object.entries(one.labels).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
  const followers = await deps.subscriptions.followers(selectionTopic(run.key), run.signal);
  return followers.some(({ follows }) => follows?.kind === "objects" && follows.selectors.some(selects));
}

/** Wakes what has this source as its own. */
export async function wakeConsumers(
  {
    deps,
    run,
  }: { readonly deps: Pick<FlowDeps, "requests" | "subscriptions">; readonly run: Pick<Run, "key" | "signal"> },
  reason: string,
): Promise<void> {
  for (const consumer of await deps.subscriptions.subscribers(sourceTopic(run.key), run.signal)) {
    await deps.requests.request(consumer, reason, run.signal);
  }
}

/**
 * A HelmRelease waits until its source has observed its present generation (reference helmrelease 6), and shows its failure; other
 * kinds wait for its artifact alone.
 */
async function wakeReleases(
  { deps, run }: Pick<SourceContext, "deps" | "run">,
  what: "failure" | "new generation",
): Promise<void> {
  for (const consumer of await deps.subscriptions.subscribers(sourceTopic(run.key), run.signal)) {
    if (consumer.kind !== "HelmRelease") continue;
    await deps.requests.request(consumer, `${what} of ${formatWorkKey(run.key)}`, run.signal);
  }
}

/**
 * The run failed in a foreseen way: records an event unless the same failure was already reported, updates the status, and plans the
 * next try.
 */
export async function reportFailure(failure: Failure, ctx: SourceContext): Promise<FlowResult> {
  const { reason, message, retry, waitsFor } = failure;
  const isNews = !isShown(ctx.before, failure, ctx.traits.conditionByReason) || ctx.isAsked;
  // Waiting is not a fault: Flux's event for it is for users who look at the object, not for alerts (reference 1.8).
  const isWaiting = retry === "dependency" || retry === "soon";
  const type = isWaiting ? "Normal" : "Warning";
  const relation = waitsOrFailed(waitsFor);
  // Before the status, which says that the event was sent.
  if (isNews) await ctx.record({ type, reason, message, annotations: {}, relation, isTrace: isWaiting });
  await ctx.conclude(
    retry === "never"
      ? stalled(ctx.status(), failure, ctx.now(), ctx.traits.conditionByReason)
      : failed(ctx.status(), failure, ctx.now(), ctx.traits.conditionByReason),
  );
  // So that one with a wrong chart or version says so at once.
  if (isNews) await wakeReleases(ctx, "failure");
  if (retry === "never") return { outcome: "stalled", failure, dueInMs: undefined };
  const outcome = isWaiting ? outcomeOfWait(failure) : "failed";
  if (retry === "dependency") return { outcome, failure, dueInMs: ctx.deps.timing.requeueDependencyMs };
  const failures = Failures.safeParse(ctx.run.carried).data?.failures ?? 0;
  const dueInMs = Math.max(backOffMs(failures, ctx.deps.timing.retryDelay), retryAfterMs(failure));
  return { outcome, failure, dueInMs, carried: { failures: failures + 1 } };
}

/** How long the origin asks to be left alone (429, 503), wherever it stands in the chain of causes. */
export function retryAfterMs(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  const ms = "retryAfterMs" in error ? error.retryAfterMs : undefined;
  return typeof ms === "number" ? ms : retryAfterMs(error.cause);
}
