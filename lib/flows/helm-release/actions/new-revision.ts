import { emptiedWarning } from "../../../apply/plan.ts";
import { Failure, messageOf } from "../../../core/failure.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import {
  HelmEngineError,
  type HookEvent,
  type ObservedRelease,
  type ReleaseRecord,
} from "../../../core/ports/helm-engine.ts";
import type { AttemptMark, RevisionHead, StoredRevision } from "../../../helm/release-store.ts";
import type { ActionEnd, ActionOutcome, ActionWait, WaitingAction, WrittenRevision } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import type { HelmReleaseContext } from "../attempt/context.ts";
import {
  applyPlanned,
  type PlannedObjects,
  planObjects,
  type RefusedObjects,
  shownInventory,
} from "./apply-objects.ts";
import { awaitObjects } from "./await-objects.ts";
import { hidingIn, type QuotedRevision } from "./hide-secrets.ts";
import { isPassing } from "./hook-object.ts";
import { runHooks } from "./hooks.ts";
import { foreignObjects } from "./ownership.ts";
import { releaseObjects } from "./release-objects.ts";
import { recordLimits, revise } from "./revise.ts";
import { timeoutMsOf } from "./timeouts.ts";
import { looked, nextLookMs, waitFor } from "./wait.ts";

/** An install, upgrade or rollback: what differs between them. */
export interface RevisionPlan {
  readonly action: "install" | "rollback" | "upgrade";
  readonly pending: "pending-install" | "pending-rollback" | "pending-upgrade";
  readonly before: HookEvent;
  readonly after: HookEvent;
  readonly deployed: string;
  /** The description of a revision that has failed. */
  failed(name: string, why: string): string;
  /** Before the words of a hook's error. */
  hookFailed(event: HookEvent, why: string): string;
  /**
   * The record to store, with its first status and description; a text if there is none. `deployed`: what is deployed, or else the
   * latest revision.
   */
  prepare(
    latest: RevisionHead | undefined,
    deployed: StoredRevision | undefined,
  ): Promise<PreparedRevision | { readonly refused: string } | Waiting>;
  /** Where objects that exist and are not the release's are refused: how Helm begins its message. */
  readonly refusesForeign?: string | undefined;
  readonly disablesHooks: boolean;
  readonly disablesWait: boolean;
  readonly waitsForJobs: boolean;
  /** The digest of the artifact, for the snapshot. */
  readonly ociDigest: string;
  /** The revision that a rollback goes back to. */
  readonly target?: number | undefined;
}

type Waiting = WaitingAction;

/** A record that is about to be stored, with the objects of `crds/`. */
export interface PreparedRevision {
  readonly record: ReleaseRecord;
  readonly crds: Parameters<typeof shownInventory>[1];
}

/** The revision that is deployed before the action, which the new one replaces. */
interface Former {
  readonly heads: readonly RevisionHead[];
  readonly deployed: StoredRevision | undefined;
}

/**
 * Makes a new revision of a release and brings its objects into the cluster, as Helm's actions do: pending record, hooks, objects,
 * wait, hooks, deployed. It continues what an earlier run has begun, from the Secret alone.
 */
export async function newRevision(
  plan: RevisionPlan,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, store } = attempt;
  const heads = await store.heads(ctx.run.signal);
  const under = await underWay(plan, heads, attempt);
  const former = await formerOf(heads, under, attempt);
  if (under !== undefined) {
    const outcome = await carryOn(plan, under, former, attempt, wait);
    // A run that was killed right after the first write has not shown it.
    const isShown = ctx.status().inventory !== undefined;
    return isShown ? outcome : withInventory(outcome, await shownInventory(under.observed, [], attempt));
  }
  return begin(plan, former, attempt, wait);
}

/** The pending revision of this action, which an earlier run has written. */
async function underWay(
  { ociDigest, pending }: RevisionPlan,
  [latest]: readonly RevisionHead[],
  { ctx, store, token }: ReleaseAttempt,
): Promise<StoredRevision | undefined> {
  if (latest?.status !== pending) return undefined;
  const stored = await store.read(latest.version, ociDigest, ctx.run.signal);
  const mark = stored?.mark;
  const isOurs = mark?.owner === ctx.owner.uid && mark.generation === ctx.generation && mark.token === token;
  return isOurs ? stored : undefined;
}

async function formerOf(
  heads: readonly RevisionHead[],
  under: StoredRevision | undefined,
  { ctx, store }: ReleaseAttempt,
): Promise<Former> {
  const others = heads.filter(({ version }) => version !== under?.version);
  // Helm compares with the deployed revision, or else with the latest one.
  const head = others.find(({ status }) => status === "deployed") ?? others[0];
  const snapshot = (ctx.status().history ?? []).find(({ version }) => version === head?.version);
  const deployed = head && (await store.read(head.version, snapshot?.ociDigest ?? "", ctx.run.signal));
  return { heads: others, deployed };
}

async function begin(
  plan: RevisionPlan,
  former: Former,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
): Promise<ActionOutcome> {
  const { ctx, store, token } = attempt;
  const unstored = async (message: string, quoted: readonly QuotedRevision[] = []): Promise<ActionEnd> => {
    const hide = await hidingIn(attempt, quoted);
    return { kind: "failed", message: hide(message), log: [], written: [] };
  };
  let prepared: Awaited<ReturnType<RevisionPlan["prepare"]>>;
  try {
    prepared = await plan.prepare(former.heads[0], former.deployed);
  } catch (error) {
    // Helm's error for a chart that cannot be rendered.
    if (error instanceof HelmEngineError && error.reason !== "busy" && error.reason !== "unavailable") {
      return unstored(error.message);
    }
    throw error;
  }
  if ("kind" in prepared) return prepared;
  if ("refused" in prepared) return unstored(prepared.refused);
  const quoted = [prepared.record.observed];
  const planned = await planObjects(
    prepared.record.observed,
    formerManifest(plan, former),
    attempt,
    false,
    plan.action,
  );
  if ("kind" in planned && planned.isBuild) return unstored(planned.message, quoted);
  if (!("kind" in planned) && plan.refusesForeign !== undefined) {
    const known = formerManifest(plan, former);
    const own = known === undefined ? [] : await releaseObjects(known, ctx);
    const foreign = await foreignObjects(planned.planned, own, prepared.record.observed, ctx);
    if (foreign.length > 0) return unstored(`${plan.refusesForeign}: ${foreign.join("; ")}`, quoted);
  }
  if (!("kind" in planned)) warnIfEmptied(planned, ctx);
  await keepHistory(plan, former, attempt);
  const mark: AttemptMark = {
    ...{ owner: ctx.owner.uid, action: plan.action },
    ...{ generation: ctx.generation, token },
  };
  let stored: StoredRevision;
  try {
    stored = await store.create(prepared.record, mark, ctx.run.signal);
  } catch (error) {
    if (error instanceof Failure) return unstored(error.message);
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    const isTaken = error.reason === "AlreadyExists";
    const mend = isTaken ? "; another client has stored it meanwhile: the next run goes on from what it finds" : "";
    return unstored(`create: failed to create: ${messageOf(error)}${mend}`, quoted);
  }
  const inventory = await shownInventory(prepared.record.observed, prepared.crds, attempt);
  const outcome = await carryOn(plan, stored, former, attempt, wait, planned);
  return withInventory(outcome, inventory);
}

/** A chart that renders nothing any longer deletes all objects, as in Flux. Users are warned before that. */
function warnIfEmptied({ planned }: PlannedObjects, ctx: HelmReleaseContext): void {
  const warning = emptiedWarning(planned.plan);
  if (warning === undefined) return;
  const message = `${warning}; if that is not meant, correct the chart or its values`;
  ctx.deps.log.warn(message, { ...ctx.run.key });
  ctx.record({ type: "Warning", reason: "PruningAll", message, annotations: {} });
}

function withInventory(outcome: ActionOutcome, inventory: Awaited<ReturnType<typeof shownInventory>>): ActionOutcome {
  return outcome.kind === "waiting" ? { ...outcome, inventory } : { ...outcome, inventory };
}

function formerManifest({ action }: RevisionPlan, { deployed }: Former): ObservedRelease | undefined {
  return action === "install" ? undefined : deployed?.observed;
}

/** As many revisions as `spec.maxHistory` says, with the one to come; the deployed one stays (helm.sh/helm/v4/pkg/storage). */
async function keepHistory(
  { action }: RevisionPlan,
  { deployed, heads }: Former,
  attempt: ReleaseAttempt,
): Promise<void> {
  const { ctx, store } = attempt;
  const { maxHistory = 5 } = ctx.release.spec;
  if (action === "install" || maxHistory <= 0) return;
  const surplus = heads.length - (maxHistory - 1);
  const oldest = heads.toReversed().filter(({ version }) => version !== deployed?.version);
  for (const head of oldest.slice(0, Math.max(0, surplus))) await store.remove(head, ctx.run.signal);
}

async function carryOn(
  plan: RevisionPlan,
  begun: StoredRevision,
  former: Former,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
  planned?: PlannedObjects | RefusedObjects,
): Promise<ActionOutcome> {
  if (planned !== undefined && "kind" in planned) return failObjects(plan, planned.message, begun, former, attempt);
  const before = await hooks(plan, plan.before, begun, attempt, wait);
  if (before.kind === "waiting") return before;
  if (before.kind === "failed") {
    return fail(plan, plan.hookFailed(plan.before, before.message), before.stored, attempt);
  }
  let { stored } = before;
  // Once the last hooks have begun, the objects are applied and ready.
  if (stored.mark?.hooks !== plan.after) {
    const objects = await bringIn(plan, stored, former, attempt, wait, planned);
    if (objects.kind === "waiting") return objects;
    if (objects.kind === "failed") return failObjects(plan, objects.message, stored, former, attempt);
  }
  const after = await hooks(plan, plan.after, stored, attempt, wait);
  if (after.kind === "waiting") return after;
  stored = after.stored;
  if (after.kind === "failed") return fail(plan, plan.hookFailed(plan.after, after.message), stored, attempt);
  return succeed(plan, stored, former, attempt);
}

type Hooks = { readonly kind: "done" | "failed"; readonly stored: StoredRevision; readonly message: string } | Waiting;

async function hooks(
  { action, disablesHooks, ociDigest }: RevisionPlan,
  event: HookEvent,
  stored: StoredRevision,
  { ctx, healthRules, store }: ReleaseAttempt,
  wait: ActionWait | undefined,
): Promise<Hooks> {
  if (disablesHooks) return { kind: "done", stored, message: "" };
  const releaseNamespace = stored.observed.namespace;
  const runner = { ctx, store, ociDigest, releaseNamespace, timeoutMs: timeoutMsOf(action, ctx), healthRules };
  const outcome = await runHooks(runner, event, stored, wait);
  if (outcome.kind === "waiting") return { kind: "waiting", wait: outcome.wait, dueInMs: outcome.dueInMs };
  return { kind: outcome.kind, stored: outcome.stored, message: outcome.kind === "failed" ? outcome.message : "" };
}

async function bringIn(
  plan: RevisionPlan,
  stored: StoredRevision,
  former: Former,
  attempt: ReleaseAttempt,
  wait: ActionWait | undefined,
  before: PlannedObjects | undefined,
): Promise<Waiting | { readonly kind: "done" } | { readonly kind: "failed"; readonly message: string }> {
  const { ctx } = attempt;
  const { observed } = stored;
  const isAwaited = wait?.for === "objects";
  const planned =
    before ?? (await planObjects(observed, formerManifest(plan, former), attempt, isAwaited, plan.action));
  if ("kind" in planned) return { kind: "failed", message: planned.message };
  const applied = await applyPlanned(planned, attempt);
  if (applied.kind === "failed") return applied;
  if (applied.kind === "waiting") {
    const stage = waitFor("stage", wait, ctx.deps.clock.now());
    const isOver = ctx.deps.clock.now() - stage.since >= timeoutMsOf(plan.action, ctx);
    if (isOver) return { kind: "failed", message: applied.why };
    return { kind: "waiting", wait: looked(stage), dueInMs: nextLookMs(stage.looks) };
  }
  if (plan.disablesWait) return { kind: "done" };
  const how = { timeoutMs: timeoutMsOf(plan.action, ctx), waitsForJobs: plan.waitsForJobs };
  const awaited = await awaitObjects(await releaseObjects(observed, ctx), wait, how, attempt);
  return awaited.kind === "ready" ? { kind: "done" } : awaited;
}

/** The last writes: what it replaces is superseded, and the revision is deployed. */
async function succeed(
  plan: RevisionPlan,
  stored: StoredRevision,
  former: Former,
  attempt: ReleaseAttempt,
): Promise<ActionEnd> {
  const written: WrittenRevision[] = [];
  for (const { version } of former.heads.filter((head) => isReplaced(head, plan, former))) {
    written.push(...(await rewrite(version, "superseded", attempt)));
  }
  const record = await finish(plan, stored, { status: "deployed", description: plan.deployed }, attempt);
  return { kind: "succeeded", written: [{ record, isGone: false }, ...written] };
}

/** The deployed revision; for an upgrade also its starting point, and for an install the uninstalled release that it continues. */
function isReplaced({ status, version }: RevisionHead, { action }: RevisionPlan, { deployed }: Former): boolean {
  if (status === "deployed") return true;
  if (action === "upgrade") return version === deployed?.version;
  return action === "install" && status === "uninstalled" && version === deployed?.version;
}

/** A former revision in its new state; undefined if it is gone. Without a status it is written unchanged. */
async function rewrite(
  version: number,
  status: "superseded" | undefined,
  { ctx, store }: ReleaseAttempt,
): Promise<readonly WrittenRevision[]> {
  const snapshot = (ctx.status().history ?? []).find((one) => one.version === version);
  const ociDigest = snapshot?.ociDigest ?? "";
  const former = await store.read(version, ociDigest, ctx.run.signal);
  if (former === undefined) return [];
  const change = status === undefined ? {} : { status };
  return [{ record: await revise({ ctx, store, ociDigest }, former, change, undefined), isGone: false }];
}

/**
 * The objects could not be applied, or did not become ready. Helm then also rewrites the starting point of an upgrade unchanged, and
 * supersedes that of a rollback.
 */
async function failObjects(
  plan: RevisionPlan,
  message: string,
  stored: StoredRevision,
  { deployed, heads }: Former,
  attempt: ReleaseAttempt,
): Promise<ActionEnd> {
  const rewritten =
    plan.action === "upgrade" && deployed !== undefined
      ? await rewrite(deployed.version, undefined, attempt)
      : plan.action === "rollback" && heads[0] !== undefined
        ? await rewrite(heads[0].version, "superseded", attempt)
        : [];
  const end = await fail(plan, message, stored, attempt);
  return { ...end, written: [...end.written, ...rewritten] };
}

/** `why` may quote a Secret. The record and all other texts get it with `*****` in place of the value. */
async function fail(
  plan: RevisionPlan,
  why: string,
  stored: StoredRevision,
  attempt: ReleaseAttempt,
): Promise<Extract<ActionEnd, { kind: "failed" }>> {
  const message = (await hidingIn(attempt, [stored.observed]))(why);
  const description = plan.failed(stored.observed.name, message);
  const record = await finish(plan, stored, { status: "failed", description }, attempt);
  return { kind: "failed", message, log: logOf(plan, stored, message), written: [{ record, isGone: false }] };
}

/** Helm's log of a failed action, as far as it names the failed step. */
function logOf({ action }: RevisionPlan, { observed }: StoredRevision, message: string): readonly string[] {
  return [`warning: ${action} failed: ${JSON.stringify({ name: observed.name, error: message })}`];
}

/** The last write of a revision records that, by its own digest: if a run was killed after it, the next run knows how the action ended. */
async function finish(
  plan: RevisionPlan,
  stored: StoredRevision,
  change: { readonly status: "deployed" | "failed"; readonly description: string },
  attempt: ReleaseAttempt,
): Promise<StoredRevision> {
  const { ctx, store, token } = attempt;
  const options = { tenant: { cluster: ctx.run.key.cluster, namespace: ctx.namespace }, ociDigest: plan.ociDigest };
  const record = await ctx.deps.helm.amend(stored.bytes, change, options, recordLimits, ctx.run.signal);
  const mark: AttemptMark = {
    ...{ owner: ctx.owner.uid, action: plan.action, generation: ctx.generation, token },
    ended: record.observed.digest,
    attempted: { ociDigest: plan.ociDigest, configDigest: attempt.configDigest },
    ...(plan.target === undefined ? {} : { target: plan.target }),
  };
  return store.update(stored, record, mark, ctx.run.signal);
}
