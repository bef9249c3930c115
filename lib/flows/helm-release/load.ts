import { type HelmRelease, parseHelmRelease, readReleaseForEnd } from "../../api/helm-release.ts";
import { HelmReleaseStatus } from "../../api/helm-release-status.ts";
import { declaredHelmRelease } from "../../api/kinds/helm-release.ts";
import { helmGroup, requestedAtAnnotation } from "../../api/names.ts";
import { Failure } from "../../core/failure.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { asTarget } from "../../core/ports/home-and-target.ts";
import type { Run } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import { inventoryUid } from "../owner/inventory-uid.ts";
import { hasKubeConfig } from "../owner/kube-config-field.ts";
import { reportEvent } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";
import type { HelmReleaseContext, HelmReleaseDeps } from "./attempt/context.ts";

/** An object that a run can work on, or whose fault it can report. */
interface Loaded {
  readonly ctx: HelmReleaseContext;
  /** Why its spec cannot be read. */
  readonly fault?: Failure;
}

/** Loads the object. Undefined if it is gone: then its subscriptions end. */
export async function load(run: Run, deps: HelmReleaseDeps): Promise<Loaded | undefined> {
  const home = leasedCluster(deps.home, run);
  const live = await home.get({ ...run.key, group: helmGroup, version: "v2" }, run.signal);
  if (live === undefined) {
    await deps.subscriptions.subscribe([], run.fence, run.signal);
    return undefined;
  }
  try {
    return { ctx: await contextOf(live, parseHelmRelease(live), run, deps) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const ending = live.metadata.deletionTimestamp === undefined ? undefined : readReleaseForEnd(live);
    if (ending !== undefined) return { ctx: await contextOf(live, ending, run, deps) };
    return { ctx: await contextOf(live, unreadable(live), run, deps), fault: error };
  }
}

async function contextOf(
  live: LiveObject,
  release: HelmRelease,
  run: Run,
  deps: HelmReleaseDeps,
): Promise<HelmReleaseContext> {
  let { status } = release;
  let written = status;
  let events = Promise.resolve();
  const { name, namespace = "", uid, generation = 0 } = live.metadata;
  const home = leasedCluster(deps.home, run);
  const homeUid = await home.uid(run.signal);
  const isRemote = hasKubeConfig(live);
  // The cluster of spec.kubeConfig is opened later: a run that waits for its source needs no other cluster.
  const target = isRemote ? asTarget(home) : leasedCluster(await deps.targetOf(live, run.signal), run);
  return {
    ...{ live, release, name, namespace, generation, run, deps, home, homeUid, target },
    requestedAt: live.metadata.annotations?.[requestedAtAnnotation],
    owner: { uid, clusterUid: isRemote ? "" : homeUid, generation },
    remote: isRemote ? "closed" : undefined,
    cel: deps.cel.withBudget(run.key),
    status: () => status,
    note: (next) => {
      status = next;
    },
    write: async (changed) => {
      const next = withoutEmptyHistory(changed);
      status = next;
      const body = statusPatch(written, next);
      if (body === undefined) return;
      // The status says that events recorded before were sent.
      await events;
      const options = { manager: declaredHelmRelease.statusManager, subresource: "status" };
      await home.patch(refOf(live), { type: "merge", body: { status: body } }, options, run.signal);
      written = next;
    },
    record: (event) => {
      events = events.then(() => reportEvent(home, live, event, declaredHelmRelease.eventSource, run, deps));
      // The error is thrown to the caller that waits for the events, and must not end the process before.
      events.catch(() => undefined);
    },
    eventsSent: () => events,
  };
}

/**
 * The context with the cluster of `spec.kubeConfig` open.
 *
 * @throws TargetFault if it cannot be used, or if it is unclear which cluster it points to; an outage if the cluster does not answer
 */
export async function openTarget(ctx: HelmReleaseContext): Promise<HelmReleaseContext> {
  if (ctx.remote !== "closed") return ctx;
  const { deps, home, live, owner, run } = ctx;
  const remote = await deps.remoteTargetOf(live, { home, cluster: run.key.cluster }, run.signal);
  const clusterUid = await inventoryUid(remote, ctx);
  // A prune checks again which cluster it is about to delete in.
  const target = leasedCluster({ ...remote.cluster, uid: async () => clusterUid }, run);
  return { ...ctx, remote, target, owner: { ...owner, clusterUid } };
}

/** An empty history is left out, as Go leaves it out. */
function withoutEmptyHistory({ history = [], ...status }: HelmReleaseStatus): HelmReleaseStatus {
  return history.length === 0 ? status : { ...status, history };
}

/** Stands for an object with an unreadable spec: as suspended, so that nothing in it counts as an instruction. */
function unreadable(live: LiveObject): HelmRelease {
  const status = HelmReleaseStatus.safeParse(live["status"] ?? {}).data ?? {};
  return { metadata: live.metadata, spec: { interval: "1h", suspend: true }, status };
}
