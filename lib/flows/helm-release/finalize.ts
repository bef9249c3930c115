import type { HelmReleaseStatus, ReleaseSnapshot } from "../../api/helm-release-status.ts";
import { finalizer } from "../../api/names.ts";
import { formatDuration } from "../../core/duration.ts";
import { backOffMs } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import type { ReleaseNames } from "../../helm/release-names.ts";
import type { ReleaseStore } from "../../helm/release-store.ts";
import { fullReleaseName, snapshotOf, versionedChart } from "../../helm/snapshot.ts";
import { removeConditions, setConditions } from "../conditions.ts";
import { letGoElsewhere } from "../owner/elsewhere.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { hidingStored } from "./actions/hide-secrets.ts";
import { releaseManager } from "./actions/hook-object.ts";
import { timeoutMsOf } from "./actions/timeouts.ts";
import { alreadyDeleted, releaseNotFound, uninstallRelease } from "./actions/uninstall.ts";
import type { ActionEnd, ActionWait } from "./attempt/action.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { deleteGeneratedChart } from "./generated-chart.ts";
import { type EventMetadata, metadataOf, recordRelease } from "./release-events.ts";

/** What the deletion of a HelmRelease passes on to its next run. */
export interface CarriedEnd {
  readonly failures: number;
  readonly wait: ActionWait | undefined;
}

export interface EndOfRelease {
  /** The names in the spec: if the status has no history, the release is looked for under this name. */
  readonly names: Pick<ReleaseNames, "name" | "namespace">;
  /** Revisions in a namespace of the target cluster. */
  readonly storeOf: (storageNamespace: string) => ReleaseStore;
}

/**
 * The end of a HelmRelease (reference helmrelease 17): uninstalls the release, deletes the HelmChart that was made for it, and lets go of
 * the object. A suspended one leaves both. Its source does not matter.
 *
 * @param ctx its target is open
 */
export async function finalizeRelease(
  ctx: HelmReleaseContext,
  carried: JsonObject | undefined,
  end: EndOfRelease,
): Promise<FlowResult> {
  const { finalizers = [] } = ctx.live.metadata;
  if (!finalizers.includes(finalizer)) return { outcome: "deleted", dueInMs: undefined };
  if (ctx.release.spec.suspend === true) return letGo(ctx);
  const unended = await uninstalled(ctx, readCarriedEnd(carried), end);
  if (unended !== undefined) return unended;
  await deleteGeneratedChart(ctx);
  return letGo(ctx);
}

/** What the previous run passed on, if it was one of the deletion. */
export function readCarriedEnd(carried: JsonObject | undefined): CarriedEnd {
  const { failures, isFinalizing, wait } = carried ?? {};
  if (isFinalizing !== true) return { failures: 0, wait: undefined };
  return { failures: typeof failures === "number" ? failures : 0, wait: readWait(wait) };
}

/** The state in its stored form. */
export function toCarriedEnd({ failures, wait }: CarriedEnd): JsonObject {
  return { isFinalizing: true, failures, ...(wait === undefined ? {} : { wait: { ...wait } }) };
}

function readWait(wait: unknown): ActionWait | undefined {
  if (typeof wait !== "object" || wait === null) return undefined;
  const { for: what, since, looks } = wait as Partial<Record<keyof ActionWait, unknown>>;
  if (typeof what !== "string" || typeof since !== "number" || typeof looks !== "number") return undefined;
  return { for: what, since, looks };
}

/** Undefined once the release is uninstalled, or need not be. */
async function uninstalled(
  ctx: HelmReleaseContext,
  { failures, wait }: CarriedEnd,
  { names, storeOf }: EndOfRelease,
): Promise<FlowResult | undefined> {
  const { storageNamespace = "", history = [] } = ctx.status();
  if (storageNamespace === "" || !(await mayUninstall(ctx))) return undefined;
  const [latest] = history;
  const { name: releaseName, namespace: releaseNamespace } = latest ?? names;
  const order = { ctx, store: storeOf(storageNamespace), releaseName, releaseNamespace };
  if (latest === undefined && !(await isOurs(order))) return undefined;
  const outcome = await uninstallRelease({ ...order, reason: "deletion", healthRules: undefined }, wait);
  if (outcome.kind === "waiting") {
    await ctx.write(running(ctx));
    return { outcome: "waiting", dueInMs: outcome.dueInMs, carried: toCarriedEnd({ failures, wait: outcome.wait }) };
  }
  const status = await report(outcome, latest, ctx);
  if (typeof status === "string") {
    const failure = { reason: "UninstallFailed", message: status };
    const carried = toCarriedEnd({ failures: failures + 1, wait: undefined });
    return { outcome: "failed", failure, dueInMs: backOffMs(failures, ctx.deps.timing.retryDelay), carried };
  }
  const { history: _history, storageNamespace: _storage, ...rest } = status;
  await ctx.write(rest);
  return undefined;
}

/** Without a history: whether the last revision is of an action of ours that was stopped before the status could tell. */
async function isOurs({
  ctx,
  store,
}: {
  readonly ctx: HelmReleaseContext;
  readonly store: ReleaseStore;
}): Promise<boolean> {
  const [head] = await store.heads(ctx.run.signal);
  const last = head && (await store.read(head.version, "", ctx.run.signal));
  return last?.mark?.owner === ctx.owner.uid;
}

/** Not if the account that has to delete the objects is gone: then they stay, as in Flux. */
async function mayUninstall({ deps, home, namespace, release, run }: HelmReleaseContext): Promise<boolean> {
  const { kubeConfig, serviceAccountName = "" } = release.spec;
  const name = serviceAccountName === "" ? deps.defaultServiceAccount : serviceAccountName;
  if (kubeConfig !== undefined || name === "") return true;
  const account = { group: "", version: "v1", kind: "ServiceAccount", namespace, name };
  if ((await home.get(account, run.signal)) !== undefined) return true;
  deps.log.warn("the service account is gone, so the release is not uninstalled", { ...run.key, account: name });
  return false;
}

/** Writes and tells how the uninstall has ended; answers why if it has failed. */
async function report(
  end: ActionEnd,
  latest: ReleaseSnapshot | undefined,
  ctx: HelmReleaseContext,
): Promise<HelmReleaseStatus | string> {
  const status = withWritten(end, ctx.status());
  const release = latest === undefined ? ctx.name : fullReleaseName(latest);
  const { about, metadata } = aboutLatest(ctx);
  const released = (reason: "UninstallFailed" | "UninstallSucceeded", message: string, from: HelmReleaseStatus) => {
    const said = { status: "False", reason, message } as const;
    return setConditions(
      removeConditions(from, ["Reconciling", "Stalled"]),
      [
        { type: "Ready", ...said },
        { type: "Released", ...said },
      ],
      { generation: ctx.generation, at: ctx.deps.clock.now() },
    );
  };
  if (end.kind === "succeeded") {
    const message = `Helm uninstall succeeded for release ${about}`;
    recordRelease(ctx, { type: "Normal", reason: "UninstallSucceeded", message }, metadata);
    const { inventory: _inventory, ...rest } = status;
    return released("UninstallSucceeded", message, rest);
  }
  if (end.message === releaseNotFound) {
    return released("UninstallSucceeded", `Release ${release} was not found, assuming it is uninstalled`, status);
  }
  if (latest !== undefined && end.message === alreadyDeleted(latest.name)) {
    return released("UninstallSucceeded", `Release ${release} was already uninstalled`, status);
  }
  const failed = hidingStored(end, ctx.release.spec.values);
  const message = `Helm uninstall failed for release ${about}: ${failed.message}`;
  recordRelease(ctx, { type: "Warning", reason: "UninstallFailed", message }, metadata, failed.log);
  await ctx.write(released("UninstallFailed", message, { ...status, failures: (status.failures ?? 0) + 1 }));
  await ctx.eventsSent();
  return message;
}

/** The release that the status knows, for messages and events. */
export function aboutLatest(ctx: HelmReleaseContext): { readonly about: string; readonly metadata: EventMetadata } {
  const [latest] = ctx.status().history ?? [];
  if (latest === undefined) return { about: ctx.name, metadata: noMetadata };
  return { about: `${fullReleaseName(latest)} with chart ${versionedChart(latest)}`, metadata: metadataOf(latest) };
}

/** The history as the revisions are now. */
function withWritten({ written }: ActionEnd, status: HelmReleaseStatus): HelmReleaseStatus {
  const { history } = status;
  if (history === undefined) return status;
  const changed = history.map((snapshot): ReleaseSnapshot => {
    const found = written.find(({ record: { observed } }) => observed.version === snapshot.version);
    if (found === undefined) return snapshot;
    const { ociDigest = "", testHooks } = snapshot;
    const now = snapshotOf(found.record.observed, { action: "uninstall", ociDigest });
    return { ...now, ...(testHooks === undefined ? {} : { testHooks }) };
  });
  return { ...status, history: changed };
}

/** If nothing about the release was reported yet. */
const noMetadata: EventMetadata = { revision: "", token: "", appVersion: "", ociDigest: "" };

function running(ctx: HelmReleaseContext): HelmReleaseStatus {
  const timeout = formatDuration(timeoutMsOf("uninstall", ctx));
  const message = `Running 'uninstall' action with timeout of ${timeout}`;
  const said = [{ type: "Reconciling", status: "True", reason: "Progressing", message }] as const;
  const now = { generation: ctx.generation, at: ctx.deps.clock.now() };
  return setConditions(removeConditions(ctx.status(), ["Stalled"]), said, now);
}

/**
 * The very end: what Sluice knows of the object is removed, then the finalizer. The objects in the cluster stay, and so do other
 * owners' claims on them. An event names the objects that stay in clusters in which this run does not work.
 */
export async function letGo(ctx: HelmReleaseContext): Promise<FlowResult> {
  const { deps, home, live, owner, run } = ctx;
  await letGoElsewhere(ctx, {});
  if (ctx.remote !== "closed") {
    const entries = (await deps.inventories.load(owner, run.fence, run.signal)) ?? [];
    const ids = entries.map(({ id }) => id);
    await deps.ledger.release(owner.clusterUid, owner.uid, ids, run.fence, run.signal);
    await deps.inventories.remove(owner, run.fence, run.signal);
  }
  await deps.subscriptions.subscribe([], run.fence, run.signal);
  // Before the object can go, since the events are about it.
  await ctx.eventsSent();
  const others = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);
  await writeFinalizers(live, others, { home, manager: releaseManager }, run.signal);
  return { outcome: "deleted", dueInMs: undefined };
}
