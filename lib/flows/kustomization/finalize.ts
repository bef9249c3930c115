import { ConditionReason } from "../../api/condition.ts";
import { declaredKustomization } from "../../api/kinds/kustomization.ts";
import { deletionPolicy, effectiveTimeoutMs } from "../../api/kustomization.ts";
import { finalizer } from "../../api/names.ts";
import { sourceFaults } from "../../api/spec-references.ts";
import { servedRefs } from "../../apply/plan-set.ts";
import { lookAFewTimes } from "../../apply/poll.ts";
import { unwantedOf } from "../../apply/prune/gather-facts.ts";
import { prune } from "../../apply/prune/prune.ts";
import { newlyDeleted, type Pruned } from "../../apply/prune/pruned.ts";
import { ownerOfClaim } from "../../apply/set/apply-set.ts";
import { parseEntryId } from "../../apply/set/entry-id.ts";
import { liveObjects } from "../../apply/set/live-objects.ts";
import { mapLimit } from "../../core/concurrency.ts";
import { someOf } from "../../core/cut-text.ts";
import { formatDuration, parseDuration } from "../../core/duration.ts";
import { backOffMs } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { Outage } from "../../core/ports/outage.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { announceDeleted } from "../announce-changed.ts";
import { letGoElsewhere } from "../owner/elsewhere.ts";
import { deletesObjects, refOfClaim } from "../owner/owner-state.ts";
import { accountExists, accountName } from "../owner/service-account.ts";
import { reportEvent } from "../record-event.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { applySetOf, inventoryOf } from "./apply-set.ts";
import { type CarriedState, ending } from "./attempt.ts";
import type { KustomizationContext } from "./context.ts";
import { finalizeRemote, mayExistThere } from "./finalize-remote.ts";
import { countPruned, logSkippedPrunes, pruneLines, recordPending } from "./prune.ts";
import { type ResolvedSource, resolveSource } from "./resolve-source.ts";
import { appliedAnnotations, withConditions, withoutConditions } from "./status.ts";

/** Between two looks at objects that are still terminating: Flux's own poll. */
const terminationLookMs = 2_000;

/**
 * The end of a Kustomization (reference section 5): deletes what its policy says, in reverse order and with all the checks of
 * a prune, then lets go of the object. Dependencies and stalls do not matter here, a failing source neither.
 */
export async function finalize(closed: KustomizationContext, carried: CarriedState): Promise<FlowResult> {
  const { metadata } = closed.live;
  if (!(metadata.finalizers ?? []).includes(finalizer)) return { outcome: "deleted", dueInMs: undefined };
  if (closed.remote === undefined) return finalizeThere(closed, carried);
  return finalizeRemote(closed, carried, finalizeThere, letGo);
}

async function finalizeThere(ctx: KustomizationContext, carried: CarriedState): Promise<FlowResult> {
  const { deps, kustomization, owner, run } = ctx;
  const startedAt = deps.clock.now();
  const { entries: inventory } = await inventoryOf(ctx);
  if (deletesObjects(kustomization.spec) && (await mayDelete(inventory, ctx))) {
    const pruned = await pruneAll(inventory, ctx);
    const refused = refusals(pruned);
    if (refused.length > 0) {
      return {
        outcome: "failed",
        failure: { reason: "PruneFailed", message: `${pruneFailed}: ${someOf(refused, maxNamedAtEnd)}` },
        dueInMs: backOffMs(carried.failures, deps.timing.retryDelay),
        carried: { failures: carried.failures + 1, isFinalizing: true, ending: ending(ctx) },
      };
    }
    const since = (carried.isFinalizing ? carried.wait?.since : undefined) ?? startedAt;
    if (deletionPolicy(kustomization.spec) === "WaitForTermination" && !(await areGone(pruned, since, ctx))) {
      const wait = { phase: "deletion", revision: "", generation: ctx.generation, startedAt: since, since };
      return {
        outcome: "waiting",
        dueInMs: terminationLookMs,
        carried: { failures: 0, isFinalizing: true, ending: ending(ctx), wait: { ...wait, looks: 1, changed: true } },
      };
    }
  } else await leaveAll(inventory, ctx);
  const ids = inventory.map(({ id }) => id);
  await deps.ledger.release(owner.clusterUid, owner.uid, ids, run.fence, run.signal);
  await deps.inventories.remove(owner, run.fence, run.signal);
  return letGo(ctx, startedAt);
}

/** The very end: nothing of the object is left but itself. */
async function letGo(ctx: KustomizationContext, startedAt: number): Promise<FlowResult> {
  const { deps, home, kustomization, live, run } = ctx;
  const { suspend, interval } = kustomization.spec;
  await letGoElsewhere(ctx, appliedAnnotations(ctx));
  await deps.subscriptions.subscribe([], run.fence, run.signal);
  if (!suspend && ending(ctx).isReady) {
    const took = formatDuration(deps.clock.now() - startedAt);
    const annotations = { ...appliedAnnotations(ctx), "kustomize.toolkit.fluxcd.io/commit_status": "update" };
    const message = `Reconciliation finished in ${took}, next run in ${formatDuration(parseDuration(interval))}`;
    ctx.record({ type: "Normal", reason: "ReconciliationSucceeded", message, annotations });
  }
  // Before the object can go, since the events are about it.
  await ctx.eventsSent();
  const others = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
  await writeFinalizers(live, others, { home, manager: declaredKustomization.statusManager }, run.signal);
  return { outcome: "deleted", dueInMs: undefined };
}

/** The reason of the events about the end: that of the Ready condition, or Flux's for an object without one. */
function reasonOfEnd(ctx: KustomizationContext, otherwise: "Error" | "Info"): ConditionReason {
  const { reason } = ending(ctx);
  return ConditionReason.parse(reason === "" ? otherwise : reason);
}

/** Ready is not True while the deletion waits: users see at once for what. */
async function reportHanging(message: string, ctx: KustomizationContext): Promise<void> {
  const said = { reason: "Progressing", message } as const;
  const status = withConditions(
    withoutConditions(ctx.status(), "Stalled"),
    ctx,
    { type: "Reconciling", status: "True", ...said },
    { type: "Ready", status: "Unknown", ...said },
  );
  await ctx.write(status);
}

/**
 * Whether the objects can be deleted: not if the account that has to delete them is gone. Then they stay, as in Flux, and an event
 * names them: no other rights replace the account's.
 */
async function mayDelete(inventory: readonly InventoryEntry[], ctx: KustomizationContext): Promise<boolean> {
  const { deps, home, kustomization, namespace, run } = ctx;
  const account = accountName(kustomization.spec, deps.defaultServiceAccount);
  const left = inventory.filter(({ state }) => state !== "retained");
  if (account === undefined || left.length === 0) return true;
  if (await accountExists(namespace, account, home, run.signal)) return true;
  // In another cluster the account may be there alone, or nothing but rights under its name.
  if (await mayExistThere(namespace, account, ctx)) return true;
  const names = left.map(({ id }) => subject(parseEntryId(id)));
  const reason = reasonOfEnd(ctx, "Error");
  const message = `unable to prune objects: \n${names.join("\n")}`;
  ctx.record({ type: "Warning", reason, message, annotations: appliedAnnotations(ctx) });
  deps.log.warn("the service account is gone, so the objects stay", { ...run.key, account, objects: names.length });
  return false;
}

/** Whether all deleted objects are gone, or the time limit is over: then the deletion continues and says so. */
async function areGone(pruned: readonly Pruned[], since: number, ctx: KustomizationContext): Promise<boolean> {
  const { deps, kustomization, run } = ctx;
  const held = pruned.flatMap(({ kind, entry }) =>
    kind === "deleted" ? [{ ...parseEntryId(entry.id), version: entry.version }] : [],
  );
  let left: readonly string[] = [];
  const gone = await lookAFewTimes(
    async () => {
      const found = await mapLimit(held, 8, (ref, stop) => remains(ref, ctx, stop), run.signal);
      left = found.filter((one) => one !== undefined);
      return left.length === 0 ? true : undefined;
    },
    deps.clock,
    run.signal,
  );
  if (gone !== undefined) return true;
  if (deps.clock.now() - since < effectiveTimeoutMs(kustomization.spec)) {
    await reportHanging(`waiting for deleted objects to be gone: ${someOf(left, maxNamedAtEnd)}`, ctx);
    return false;
  }
  const reason = reasonOfEnd(ctx, "Error");
  const message = "failed to wait for resources termination";
  ctx.record({ type: "Warning", reason, message, annotations: appliedAnnotations(ctx) });
  deps.log.warn(message, { ...run.key });
  return true;
}

const maxNamedAtEnd = 10;

/**
 * Names an object that still exists, with the finalizers that block it; undefined if it is gone. Objects that the account may no
 * longer read are not known to be gone.
 */
async function remains(
  ref: Parameters<KustomizationContext["target"]["get"]>[0],
  { target }: KustomizationContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const live = await target.get(ref, signal);
    if (live === undefined) return undefined;
    const { finalizers = [] } = live.metadata;
    return finalizers.length === 0 ? subject(ref) : `${subject(ref)} (held by ${finalizers.join(", ")})`;
  } catch (error) {
    // A kind that is no longer served has no objects.
    if (error instanceof ApiError && error.reason === "NoMatch") return undefined;
    // The account's own rights may be among what was deleted. The timeout ends the wait.
    if (error instanceof ApiError && error.reason === "Forbidden") return `${subject(ref)} (not readable)`;
    throw error;
  }
}

/**
 * Prunes all objects of a Kustomization that is being deleted, except those that another one of the same source is about to have: so
 * a renamed Kustomization keeps its objects. Objects that another owner claims are handed over to it.
 */
async function pruneAll(inventory: readonly InventoryEntry[], ctx: KustomizationContext): Promise<readonly Pruned[]> {
  const { deps, run, target } = ctx;
  const set = applySetOf(ctx, await sourceAtEnd(ctx));
  const live = await liveObjects(await servedRefs(unwantedOf(inventory, []), set, run.signal), ctx, target, run.signal);
  const order = { ...finalizing, policy: "prune", inventory, saved: inventory, live } as const;
  const { pruned } = await prune(order, set, run.signal);
  countPruned(pruned, ctx);
  logSkippedPrunes(pruned, ctx);
  if (ctx.remote === undefined) await announceDeleted(newlyDeleted(pruned), run.key.cluster, deps, run.signal);
  const lines = pruneLines(pruned);
  const reason = reasonOfEnd(ctx, "Info");
  const annotations = appliedAnnotations(ctx);
  if (lines.length > 0) ctx.record({ type: "Normal", reason, message: lines.join("\n"), annotations });
  // Nothing else tells of it: the Kustomization is gone in a moment, and the other one may never come to it.
  recordPending(pruned, annotations, ctx);
  await tellNextOwners(pruned, ctx);
  const refused = refusals(pruned);
  if (refused.length > 0) {
    ctx.record({ type: "Warning", reason, message: pruneFailed, annotations });
    await reportHanging(`${pruneFailed}: ${someOf(refused, maxNamedAtEnd)}`, ctx);
  }
  return pruned;
}

/** Flux's text. */
const pruneFailed = "pruning for deleted resource failed";

/** Why objects were not deleted. */
function refusals(pruned: readonly Pruned[]): readonly string[] {
  return pruned.flatMap((one) => (one.kind === "refused" ? one.message : []));
}

/** Tells the next owners which objects stay for them: they have no run that knows of it, and may never apply them. */
async function tellNextOwners(pruned: readonly Pruned[], ctx: KustomizationContext): Promise<void> {
  const { deps, home, name, namespace, run } = ctx;
  const pending = pruned.filter((one) => one.kind === "pending");
  for (const [owner, given] of Map.groupBy(pending, ({ to }) => to)) {
    const { homeUid = ctx.homeUid } = ownerOfClaim(owner);
    // For another home cluster: an object of that name here is a different one.
    if (homeUid !== ctx.homeUid) continue;
    const ref = refOfClaim(owner);
    const live = ref && (await home.get(ref, run.signal));
    if (live === undefined) continue;
    const names = someOf(
      given.map(({ entry }) => subject(parseEntryId(entry.id))),
      maxNamedAtEnd,
    );
    const message =
      `${names} of ${run.key.kind}/${namespace}/${name}, which is deleted, is not deleted with it, since this Kustomization is about ` +
      "to apply it. If it never does, delete it by hand";
    const event = { type: "Normal", reason: "HandingOver", message, annotations: {} } as const;
    await reportEvent(home, live, event, declaredKustomization.eventSource, run, deps);
  }
}

/** Leaves all objects of a Kustomization that is being deleted, and wakes the owners that wait for the end of its claims. */
async function leaveAll(inventory: readonly InventoryEntry[], ctx: KustomizationContext): Promise<void> {
  const order = { ...finalizing, policy: "retain", inventory, saved: inventory, live: new Map() } as const;
  await prune(order, applySetOf(ctx, undefined), ctx.run.signal);
}

const finalizing = { isFinalizing: true, wanted: [], planned: [] } as const;

/**
 * A source that is missing or unreadable adds no objects to another Kustomization: it must not block a deletion. An owner of another
 * namespace counts although `no-cross-namespace-refs` forbids it: a Kustomization that moves to its namespace keeps its objects.
 */
async function sourceAtEnd(ctx: KustomizationContext): Promise<ResolvedSource | undefined> {
  const { spec } = ctx.kustomization;
  const isReadable = ctx.deps.sources.some(({ kind }) => kind === spec.sourceRef.kind);
  if (!isReadable || sourceFaults(spec).length > 0) return undefined;
  try {
    const source = await resolveSource(ctx);
    return source.kind === "resolved" ? source : undefined;
  } catch (error) {
    if (isNotServed(error)) return undefined;
    throw error;
  }
}

function isNotServed(error: unknown): boolean {
  return error instanceof Outage && error.cause instanceof ApiError && error.cause.reason === "NoMatch";
}
