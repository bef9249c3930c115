import { messageOf } from "../../../core/failure.ts";
import { subject } from "../../../core/object-ref.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { Hook, HookEvent, HookRun } from "../../../core/ports/helm-engine.ts";
import type { HealthRules } from "../../../health/health-rules.ts";
import type { StoredRevision } from "../../../helm/release-store.ts";
import type { ActionWait } from "../attempt/action.ts";
import { hookVerdict } from "./hook-health.ts";
import {
  createHookObject,
  deleteHookObject,
  type HookObject,
  hookObject,
  isPassing,
  releaseManager,
} from "./hook-object.ts";
import { type RevisionWriter, revise } from "./revise.ts";
import { looked, lookNow, nextLookMs, terminationLookMs, waitFor } from "./wait.ts";

/** The release whose hooks run, and their inputs. */
export interface HookRunner extends RevisionWriter {
  /** The namespace of objects that name none. */
  readonly releaseNamespace: string;
  /** For each hook. */
  readonly timeoutMs: number;
  /** Undefined for none. */
  readonly healthRules: HealthRules | undefined;
  /** Which hooks run; all if absent. */
  readonly isChosen?: (hook: Hook) => boolean;
}

/** The result of the hooks of an event. `stored`: the present revision. */
export type HooksOutcome =
  | { readonly kind: "done"; readonly stored: StoredRevision }
  /** The next run continues. */
  | { readonly kind: "waiting"; readonly stored: StoredRevision; readonly wait: ActionWait; readonly dueInMs: number }
  /** `message`: Helm's, without the words of the action. */
  | { readonly kind: "failed"; readonly stored: StoredRevision; readonly message: string };

/**
 * Runs the hooks of an event one by one, as Helm does (pkg/action/hooks.go): by weight, then name. A run records each hook before it
 * starts it, so that a later run, even after a kill, runs no hook twice: for a hook recorded as `Running` it waits if the object
 * exists, and creates it if not.
 *
 * @param stored has the mark of the action
 */
export async function runHooks(
  runner: HookRunner,
  event: HookEvent,
  stored: StoredRevision,
  wait: ActionWait | undefined,
): Promise<HooksOutcome> {
  const chosen = hooksOf(stored, event, runner);
  if (chosen.length === 0 || isOver(event, stored)) return { kind: "done", stored };
  let now = stored;
  const succeeded: number[] = [];
  for (const index of chosen) {
    const outcome = await runHook({ runner, event, wait, index }, now);
    now = outcome.stored;
    if (outcome.kind === "waiting") return outcome;
    if (outcome.kind === "failed") {
      const { isWaitedFor, ...failure } = outcome;
      return isWaitedFor === true ? afterFailure(failure, index, succeeded, { runner, event, wait }) : failure;
    }
    succeeded.push(index);
  }
  return removeAll(succeeded.toReversed(), "hook-succeeded", now, { runner, event, wait });
}

/** The positions of an event's hooks in the record, in the order in which they run. */
function hooksOf(
  { observed }: StoredRevision,
  event: HookEvent,
  { isChosen = () => true }: HookRunner,
): readonly number[] {
  return observed.hooks
    .map((hook, index) => ({ hook, index }))
    .filter(({ hook }) => hook.events.includes(event) && isChosen(hook))
    .toSorted((a, b) => a.hook.weight - b.hook.weight || byCodePoints(a.hook.name, b.hook.name))
    .map(({ index }) => index);
}

function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Whether the hooks of a later event of the action have begun. */
function isOver(event: HookEvent, { mark }: StoredRevision): boolean {
  return event.startsWith("pre-") && mark?.hooks?.startsWith("post-") === true;
}

interface HookTurn {
  readonly runner: HookRunner;
  readonly event: HookEvent;
  readonly wait: ActionWait | undefined;
  readonly index: number;
}

/** `isWaitedFor`: its object was created, and the delete policies apply to it. */
type OneOutcome =
  | Exclude<HooksOutcome, { kind: "failed" }>
  | (Extract<HooksOutcome, { kind: "failed" }> & { readonly isWaitedFor?: true });

async function runHook(turn: HookTurn, before: StoredRevision): Promise<OneOutcome> {
  const { event, index, runner } = turn;
  const { ctx, releaseNamespace } = runner;
  const hook = hookAt(before, index);
  const phase = before.mark?.hooks === event ? hook.lastRun.phase : "";
  if (phase === "Succeeded") return { kind: "done", stored: before };
  const object = await hookObject(hook, releaseNamespace, ctx);
  if (typeof object === "string") {
    const message = `unable to build kubernetes object for ${event} hook ${hook.path}: ${object}`;
    return { kind: "failed", stored: before, message };
  }
  if (phase === "Failed") {
    return { kind: "failed", stored: before, message: formerFailure(hook, object, runner), isWaitedFor: true };
  }
  let stored = before;
  const isCreated = phase === "Running" && (await isCreatedBefore(object, hook, turn));
  if (phase !== "Running") {
    const removal = await remove(index, "before-hook-creation", before, turn);
    if (removal.kind !== "done") return removal;
    stored = await begin(turn, before);
  }
  if (!isCreated) {
    const refusal = await createHookObject(object, ctx);
    if (refusal !== undefined) {
      const message = `warning: Hook ${event} ${hook.path} failed: ${refusal}`;
      return { kind: "failed", stored: await end(turn, stored, "Failed"), message };
    }
  }
  return awaitHook(object, turn, stored);
}

function hookAt({ observed }: StoredRevision, index: number): Hook {
  const hook = observed.hooks[index];
  if (hook === undefined) throw new Error(`the record of the release has no hook ${index}`);
  return hook;
}

/**
 * Records that the hook runs, before its object is created. The first hook of an event deletes the objects that earlier events left of the
 * other hooks.
 */
async function begin({ event, index, runner }: HookTurn, stored: StoredRevision): Promise<StoredRevision> {
  const { mark } = stored;
  if (mark === undefined) throw new Error("hooks run only under the mark of an action");
  const hook = hookAt(stored, index);
  const isFirst = mark.hooks !== event;
  const lastRun: HookRun = { startedAt: timeOf(runner), phase: "Running" };
  const policies = hook.deletePolicies.length === 0 ? { deletePolicies: ["before-hook-creation"] as const } : {};
  const others = isFirst ? hooksOf(stored, event, runner).filter((other) => other !== index) : [];
  const hooks = [
    { index, lastRun, ...policies },
    ...others
      .filter((other) => hookAt(stored, other).lastRun.phase !== "")
      .map((other) => ({ index: other, lastRun: { phase: "" } as const })),
  ];
  return revise(runner, stored, { hooks }, { ...mark, hooks: event });
}

async function end(
  { index, runner }: HookTurn,
  stored: StoredRevision,
  phase: "Failed" | "Succeeded",
): Promise<StoredRevision> {
  const { lastRun } = hookAt(stored, index);
  const hooks = [{ index, lastRun: { ...lastRun, completedAt: timeOf(runner), phase } }];
  return revise(runner, stored, { hooks }, stored.mark);
}

function timeOf({ ctx }: HookRunner): string {
  return new Date(ctx.deps.clock.now()).toISOString();
}

/**
 * Whether an earlier run has created the object of a hook that is recorded as running. The cluster's times have no fractions. A hook
 * that was seen and is gone is not created again: a Job may delete itself once it has finished.
 */
async function isCreatedBefore({ ref }: HookObject, hook: Hook, { event, runner, wait }: HookTurn): Promise<boolean> {
  if (wait?.for === nameOfWait(event, hook)) return true;
  const { run, target } = runner.ctx;
  const live = await target.get(ref, run.signal);
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return false;
  const { creationTimestamp, managedFields = [] } = live.metadata;
  const isOurs = managedFields.some(({ manager, operation }) => manager === releaseManager && operation === "Apply");
  return isOurs && Date.parse(creationTimestamp ?? "") >= Math.floor(startOf(hook) / 1_000) * 1_000;
}

function startOf({ lastRun }: Hook): number {
  return Date.parse(lastRun.startedAt ?? "");
}

function nameOfWait(event: HookEvent, { kind, name }: Hook): string {
  return `${event} hook ${kind}/${name}`;
}

async function awaitHook(object: HookObject, turn: HookTurn, stored: StoredRevision): Promise<OneOutcome> {
  const { event, index, runner } = turn;
  const { ctx, healthRules, timeoutMs } = runner;
  const hook = hookAt(stored, index);
  const wait = { ...waitFor(nameOfWait(event, hook), turn.wait, ctx.deps.clock.now()), since: startOf(hook) };
  let pending = "";
  const look = async () => {
    const seen = await hookVerdict(object, healthRules, ctx);
    if (seen.kind !== "waiting") return seen;
    pending = seen.message;
    return undefined;
  };
  const seen = await lookNow(look, wait, ctx);
  if (seen?.kind === "healthy") return { kind: "done", stored: await end(turn, stored, "Succeeded") };
  if (seen === undefined && ctx.deps.clock.now() - wait.since < timeoutMs) {
    return { kind: "waiting", stored, wait: looked(wait), dueInMs: nextLookMs(wait.looks) };
  }
  const message = seen?.message ?? inTime(pending, runner);
  return { kind: "failed", stored: await end(turn, stored, "Failed"), message, isWaitedFor: true };
}

/** Helm's own waiter says no more than that. */
function inTime(message: string, { ctx }: HookRunner): string {
  return ctx.release.spec.waitStrategy?.name === "legacy" ? "context deadline exceeded" : message;
}

/** The message of a hook that an earlier run has recorded as failed: the record does not contain its error. */
function formerFailure(hook: Hook, { ref }: HookObject, runner: HookRunner): string {
  const took = Date.parse(hook.lastRun.completedAt ?? "") - startOf(hook);
  if (took >= runner.timeoutMs) return inTime(`timeout waiting for: [${subject(ref)} status: 'InProgress']`, runner);
  return `failed early due to stalled resources: [${subject(ref)} status: 'Failed']`;
}

type Cleaning = Omit<HookTurn, "index">;

/** By policy: first the failed hook, then those that succeeded before it. A failed deletion does not hide the failure. */
async function afterFailure(
  failure: Extract<HooksOutcome, { kind: "failed" }>,
  failed: number,
  succeeded: readonly number[],
  cleaning: Cleaning,
): Promise<HooksOutcome> {
  const { stored } = failure;
  const first = await remove(failed, "hook-failed", stored, { ...cleaning, index: failed });
  if (first.kind === "waiting") return first;
  const rest = await removeAll(succeeded, "hook-succeeded", stored, cleaning);
  return rest.kind === "waiting" ? rest : failure;
}

type DeletePolicy = Hook["deletePolicies"][number];

async function removeAll(
  indexes: readonly number[],
  policy: DeletePolicy,
  stored: StoredRevision,
  cleaning: Cleaning,
): Promise<HooksOutcome> {
  for (const index of indexes) {
    const outcome = await remove(index, policy, stored, { ...cleaning, index });
    if (outcome.kind !== "done") return outcome;
  }
  return { kind: "done", stored };
}

/** Deletes the object of a hook if the policy of the hook says so, and waits until it is gone. Definitions stay. */
async function remove(
  index: number,
  policy: DeletePolicy,
  stored: StoredRevision,
  { event, runner, wait: carried }: HookTurn,
): Promise<HooksOutcome> {
  const { ctx, releaseNamespace, timeoutMs } = runner;
  const hook = hookAt(stored, index);
  if (hook.kind === "CustomResourceDefinition" || !policiesOf(hook).includes(policy)) return { kind: "done", stored };
  const object = await hookObject(hook, releaseNamespace, ctx);
  if (typeof object === "string") return { kind: "done", stored };
  const wait = waitFor(`${nameOfWait(event, hook)} to be gone (${policy})`, carried, ctx.deps.clock.now());
  try {
    const isGone = (await deleteHookObject(object, ctx)) || (await lookNow(() => goneNow(object, runner), wait, ctx));
    if (isGone === true) return { kind: "done", stored };
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    return { kind: "failed", stored, message: messageOf(error) };
  }
  if (ctx.deps.clock.now() - wait.since < timeoutMs) {
    return { kind: "waiting", stored, wait: looked(wait), dueInMs: terminationLookMs };
  }
  const message = `${subject(object.ref)} termination timeout: context deadline exceeded`;
  return { kind: "failed", stored, message };
}

async function goneNow({ ref }: HookObject, { ctx }: HookRunner): Promise<true | undefined> {
  return (await ctx.target.get(ref, ctx.run.signal)) === undefined ? true : undefined;
}

function policiesOf({ deletePolicies }: Hook): readonly DeletePolicy[] {
  return deletePolicies.length === 0 ? ["before-hook-creation"] : deletePolicies;
}
