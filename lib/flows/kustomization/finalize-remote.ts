import { findCondition } from "../../api/condition.ts";
import { isAccountName } from "../../api/names.ts";
import { cutText, maxMessageBytes } from "../../core/cut-text.ts";
import { backOffMs, messageOf } from "../../core/failure.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { hasObjectsElsewhere, isOfCluster, kubeConfigTopics } from "../owner/elsewhere.ts";
import { deletesObjects } from "../owner/owner-state.ts";
import { type CarriedState, ending } from "./attempt.ts";
import { type KustomizationContext, openTarget } from "./context.ts";
import { appliedAnnotations, handled, withConditions } from "./status.ts";

type Finalize = (ctx: KustomizationContext, carried: CarriedState) => Promise<FlowResult>;
type LetGo = (ctx: KustomizationContext, startedAt: number) => Promise<FlowResult>;

/**
 * The deletion of a Kustomization whose objects are in another cluster. As long as that cluster cannot be used, the Kustomization
 * stays and says why, and how to release the objects: they are never forgotten silently. If it deletes nothing, or has nothing there,
 * it needs no cluster.
 */
export async function finalizeRemote(
  ctx: KustomizationContext,
  carried: CarriedState,
  finalize: Finalize,
  letGo: LetGo,
): Promise<FlowResult> {
  const startedAt = ctx.deps.clock.now();
  // The Secret may come back: a watched one wakes the object.
  const topics = kubeConfigTopics(ctx.kustomization.spec.kubeConfig, ctx.run.key);
  await ctx.deps.subscriptions.subscribe(topics, ctx.run.fence, ctx.run.signal);
  try {
    return await finalize(await openTarget(ctx), carried);
  } catch (error) {
    if (!isOfCluster(error)) throw error;
    if (!deletesObjects(ctx.kustomization.spec) || !(await hasObjectsElsewhere(ctx, ctx.status())))
      return letGo(ctx, startedAt);
    return held(error, ctx, carried);
  }
}

async function held(error: Error, ctx: KustomizationContext, carried: CarriedState): Promise<FlowResult> {
  const { deps, name, namespace, run } = ctx;
  const message =
    // The last part of the message is the most important.
    `${cutText(messageOf(error), maxMessageBytes / 2)}: the objects in that cluster cannot be deleted, so this Kustomization waits. Fix the ` +
    "Secret or ConfigMap of spec.kubeConfig; or, to leave the objects where they are, set spec.deletionPolicy to Orphan: kubectl -n " +
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
    failure: { reason, message },
    dueInMs: backOffMs(carried.failures, deps.timing.retryDelay),
    carried: {
      failures: carried.failures + 1,
      isFinalizing: true,
      ending: ending(ctx),
      // Applies to the deletion: the wait of an earlier attempt is over.
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
