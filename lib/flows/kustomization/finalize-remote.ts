import { findCondition } from "../../api/condition.ts";
import { isAccountName } from "../../api/names.ts";
import { parseEntryId } from "../../apply/set/entry-id.ts";
import { cutText, maxMessageBytes, someOf } from "../../core/cut-text.ts";
import { backOffMs, Failure, messageOf } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import { isOutage, Outage } from "../../core/ports/outage.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { releaseTopic } from "../../core/topics.ts";
import { deletesObjects } from "../owner/owner-state.ts";
import { type CarriedState, ending } from "./attempt.ts";
import { type KustomizationContext, openTarget } from "./context.ts";
import { kubeConfigTopics } from "./dependencies.ts";
import { appliedAnnotations, handled, withConditions } from "./status.ts";

const maxNamed = 10;

type Finalize = (ctx: KustomizationContext, carried: CarriedState) => Promise<FlowResult>;
type LetGo = (ctx: KustomizationContext, startedAt: number) => Promise<FlowResult>;

/**
 * The end of a Kustomization whose objects are in another cluster. As long as that cluster cannot be used, the Kustomization stays and
 * says why, and how to let go of the objects: what it has there is never forgotten in silence. One that deletes nothing, or that has
 * nothing there, needs no cluster.
 */
export async function finalizeRemote(
  ctx: KustomizationContext,
  carried: CarriedState,
  finalize: Finalize,
  letGo: LetGo,
): Promise<FlowResult> {
  const startedAt = ctx.deps.clock.now();
  // The Secret may come back: a watched one wakes the object.
  await ctx.deps.subscriptions.subscribe(kubeConfigTopics(ctx), ctx.run.fence, ctx.run.signal);
  try {
    return await finalize(await openTarget(ctx), carried);
  } catch (error) {
    if (!isOfCluster(error)) throw error;
    if (!deletesObjects(ctx.kustomization.spec) || !(await hasObjects(ctx))) return letGo(ctx, startedAt);
    return held(error, ctx, carried);
  }
}

/** Whether the error says that the cluster cannot be used now. The state that Sluice keeps itself is something else. */
function isOfCluster(error: unknown): error is Error {
  if (error instanceof Outage) return error.cause instanceof ApiError;
  return error instanceof Failure || isOutage(error);
}

/** Whether anything is known to be in the other cluster. */
async function hasObjects(ctx: KustomizationContext): Promise<boolean> {
  const saved = await savedElsewhere(ctx);
  if (saved.length === 0) return (ctx.status().inventory?.entries ?? []).length > 0;
  return saved.some(({ entries }) => left(entries).length > 0);
}

async function held(error: Error, ctx: KustomizationContext, carried: CarriedState): Promise<FlowResult> {
  const { deps, name, namespace, run } = ctx;
  const message =
    // What follows is needed more than all of it.
    `${cutText(messageOf(error), maxMessageBytes / 2)}: the objects in that cluster cannot be deleted, so this Kustomization waits. Mend what ` +
    "spec.kubeConfig names; or, to leave the objects where they are, set spec.deletionPolicy to Orphan: kubectl -n " +
    `${namespace} patch kustomizations.kustomize.toolkit.fluxcd.io ${name} --type merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`;
  const reason = "ReconciliationFailed";
  const before = findCondition(ctx.status().conditions ?? [], "Ready");
  if (before?.status !== "False" || before.message !== message) {
    ctx.record({ type: "Warning", reason, message, annotations: appliedAnnotations(ctx) });
    deps.log.warn("the other cluster cannot be used, so the deletion waits", { ...run.key, error: messageOf(error) });
  }
  await ctx.write(handled(withConditions(ctx.status(), ctx, { type: "Ready", status: "False", reason, message }), ctx));
  return {
    outcome: "failed",
    dueInMs: backOffMs(carried.failures, deps.timing.retryDelay),
    carried: {
      failures: carried.failures + 1,
      isFinalizing: true,
      ending: ending(ctx),
      // Of the deletion: that of an attempt before it is over.
      ...(carried.isFinalizing && carried.wait !== undefined ? { wait: carried.wait } : {}),
    },
  };
}

/**
 * Whether the account may have rights in the other cluster although it does not exist at home. Looked up with the credential's own
 * rights; where those do not reach, the deletes themselves show it.
 */
export async function mayExistThere(namespace: string, name: string, ctx: KustomizationContext): Promise<boolean> {
  const { remote, run } = ctx;
  if (remote === undefined || remote === "closed" || !isAccountName(name)) return false;
  const ref = { group: "", version: "v1", kind: "ServiceAccount", namespace, name };
  try {
    return (await remote.unimpersonated.get(ref, run.signal)) !== undefined;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") return true;
    throw error;
  }
}

interface SavedElsewhere {
  readonly clusterUid: string;
  readonly entries: readonly InventoryEntry[];
}

/** What the object has in clusters other than its open target. */
async function savedElsewhere({
  deps: { inventories },
  owner,
  run,
}: KustomizationContext): Promise<readonly SavedElsewhere[]> {
  const clusters = await inventories.clusters(owner, run.fence, run.signal);
  const others = clusters.filter((uid) => uid !== owner.clusterUid);
  return Promise.all(
    others.map(async (clusterUid) => ({
      clusterUid,
      entries: (await inventories.load({ ...owner, clusterUid }, run.fence, run.signal)) ?? [],
    })),
  );
}

/** What a deletion would delete. */
function left(entries: readonly InventoryEntry[]): readonly InventoryEntry[] {
  return entries.filter(({ state }) => state !== "retained");
}

/**
 * Lets go of what is in clusters that the object applied to before, or that it could not open: an event names it, and the owners that
 * wait for its claims are woken. Nothing is deleted there.
 */
export async function letGoElsewhere(ctx: KustomizationContext): Promise<void> {
  const { deps, owner, run } = ctx;
  const saved = await savedElsewhere(ctx);
  for (const { clusterUid, entries } of saved) {
    if (left(entries).length > 0) {
      const names = someOf(
        left(entries).map(({ id }) => subject(parseEntryId(id))),
        maxNamed,
      );
      const message = `left in the cluster known as ${clusterUid}, in which nothing is deleted: ${names}`;
      ctx.record({ type: "Warning", reason: "TargetChanged", message, annotations: appliedAnnotations(ctx) });
      deps.log.warn("objects are left in another cluster", { ...run.key, clusterUid, objects: left(entries).length });
    }
    const ids = entries.map(({ id }) => id);
    await deps.ledger.release(clusterUid, owner.uid, ids, run.fence, run.signal);
    await deps.inventories.remove({ ...owner, clusterUid }, run.fence, run.signal);
  }
  if (saved.length === 0) return;
  for (const subscriber of await deps.subscriptions.subscribers(releaseTopic(run.key), run.signal)) {
    await deps.requests.request(subscriber, "an owner has let go of objects", run.signal);
  }
}
