import { findCondition } from "../../api/condition.ts";
import { finalizer } from "../../api/names.ts";
import { cutText, maxMessageBytes } from "../../core/cut-text.ts";
import { backOffMs, Failure, messageOf } from "../../core/failure.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { HelmEngineError } from "../../core/ports/helm-engine.ts";
import { isOutage } from "../../core/ports/outage.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import { releaseNames } from "../../helm/release-names.ts";
import { secretReleaseStore } from "../../helm/secret-release-store.ts";
import { hasObjectsElsewhere, isOfCluster, kubeConfigTopics } from "../owner/elsewhere.ts";
import { TargetFault } from "../owner/target-fault.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { aboutLatest, finalizeRelease, letGo, readCarriedEnd, toCarriedEnd } from "./finalize.ts";
import { deleteGeneratedChart } from "./generated-chart.ts";
import { openTarget } from "./load.ts";
import { recordRelease } from "./release-events.ts";
import { handled, withConditions, withoutConditions } from "./release-status.ts";

/**
 * The end of a HelmRelease, in whatever cluster its release is. As long as that cluster cannot be used, the HelmRelease stays and
 * says why, and how to release the objects: they are never forgotten silently. A cluster is not needed if the HelmRelease is
 * suspended, has nothing there, or has lost the Secret or ConfigMap of `spec.kubeConfig`: Flux lets those go too.
 */
export async function endRelease(ctx: HelmReleaseContext): Promise<FlowResult> {
  const { deps, live, run } = ctx;
  if (!(live.metadata.finalizers ?? []).includes(finalizer)) return { outcome: "deleted", dueInMs: undefined };
  const { kubeConfig, suspend } = ctx.release.spec;
  if (suspend === true) return letGo(ctx);
  // The Secret may come back: a watched one wakes the object.
  await deps.subscriptions.subscribe(kubeConfigTopics(kubeConfig, run.key), run.fence, run.signal);
  let open: HelmReleaseContext;
  try {
    open = await openTarget(ctx);
  } catch (error) {
    if (!isOfCluster(error)) throw error;
    const isLeft = await hasRelease(ctx);
    if (isLeft && !(error instanceof TargetFault && error.isGone)) return held(error, ctx);
    if (isLeft) tellLeft(error, ctx);
    await deleteGeneratedChart(ctx);
    return letGo(ctx);
  }
  try {
    return await finalizeOpen(open);
  } catch (error) {
    if (!isOfTarget(error, open)) throw error;
    return held(error, open);
  }
}

async function finalizeOpen(open: HelmReleaseContext): Promise<FlowResult> {
  const { deps, namespace, run } = open;
  const { clock, helm } = deps;
  const names = releaseNames(open.release.spec, open);
  // The name in the status: the spec may have another one by now.
  const name = open.status().history?.[0]?.name ?? names.name;
  const tenant = { cluster: run.key.cluster, namespace };
  return finalizeRelease(open, run.carried, {
    names,
    storeOf: (storageNamespace) =>
      secretReleaseStore({ name, storageNamespace }, { cluster: open.target, helm, clock, tenant }),
  });
}

/** Whether anything may be in the other cluster: every attempt writes down where its release is stored. */
async function hasRelease(ctx: HelmReleaseContext): Promise<boolean> {
  const { history = [], storageNamespace = "" } = ctx.status();
  return storageNamespace !== "" || history.length > 0 || hasObjectsElsewhere(ctx, ctx.status());
}

/** Whether the uninstall cannot go on in its cluster. An outage of the home cluster is an outage of the run. */
function isOfTarget(error: unknown, { remote }: HelmReleaseContext): error is Error {
  if (error instanceof HelmEngineError || error instanceof Failure) return true;
  if (error instanceof ApiError && (error.reason === "Forbidden" || !isOutage(error))) return true;
  return remote !== undefined && isOfCluster(error);
}

function tellLeft(error: Error, ctx: HelmReleaseContext): void {
  const { about, metadata } = aboutLatest(ctx);
  const message = `${cutText(messageOf(error), maxMessageBytes / 2)}: release ${about} is not uninstalled, and stays in its cluster`;
  recordRelease(ctx, { type: "Warning", reason: "UninstallFailed", message }, metadata);
  ctx.deps.log.warn("the Secret or ConfigMap of spec.kubeConfig is gone, so the release stays", {
    ...ctx.run.key,
    error: messageOf(error),
  });
}

async function held(error: Error, ctx: HelmReleaseContext): Promise<FlowResult> {
  const { deps, name, namespace, remote, run } = ctx;
  const { about, metadata } = aboutLatest(ctx);
  const mend = remote === undefined ? "Fix that" : "Fix the Secret or ConfigMap of spec.kubeConfig";
  const message =
    // The last part of the message is the most important.
    `Helm uninstall failed for release ${about}: ${cutText(messageOf(error), maxMessageBytes / 2)}: this HelmRelease waits until the ` +
    `release can be uninstalled. ${mend}; or, to leave the release where it is, suspend this HelmRelease: kubectl -n ${namespace} ` +
    `patch helmreleases.helm.toolkit.fluxcd.io ${name} --type merge -p '{"spec":{"suspend":true}}'`;
  const said = { status: "False", reason: "UninstallFailed", message } as const;
  const before = findCondition(ctx.status().conditions ?? [], "Ready");
  if (before?.status !== "False" || before.message !== message) {
    recordRelease(ctx, { type: "Warning", reason: "UninstallFailed", message }, metadata);
    deps.log.warn("the release cannot be uninstalled, so the deletion waits", {
      ...run.key,
      error: messageOf(error),
    });
  }
  const settled = withoutConditions(ctx.status(), "Reconciling", "Stalled");
  await ctx.write(
    handled(withConditions(settled, ctx, { type: "Released", ...said }, { type: "Ready", ...said }), ctx),
  );
  const { failures, wait } = readCarriedEnd(run.carried);
  const dueInMs = backOffMs(failures, deps.timing.retryDelay);
  const failure = { reason: said.reason, message };
  return { outcome: "failed", failure, dueInMs, carried: toCarriedEnd({ failures: failures + 1, wait }) };
}
