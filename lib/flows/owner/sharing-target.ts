import { mapLimit } from "../../core/concurrency.ts";
import { Failure } from "../../core/failure.ts";
import { isJsonObject } from "../../core/json.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { Fence } from "../../core/ports/fence.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import { isOutage, Outage } from "../../core/ports/outage.ts";
import type { Run } from "../../core/ports/run.ts";
import type { TenantPlace } from "./config-map-target.ts";
import { hasKubeConfig, kubeConfigText } from "./kube-config-field.ts";
import type { RemoteTarget } from "./remote-target.ts";

/** The inputs from a run and its installation. */
export interface SharingContext {
  readonly home: HomeCluster;
  readonly homeUid: string;
  readonly live: LiveObject;
  readonly owner: InventoryOwner;
  readonly remote: RemoteTarget | "closed" | undefined;
  readonly run: Pick<Run, "key" | "signal">;
  readonly deps: {
    readonly clock: Clock;
    readonly remoteTargetOf: (live: LiveObject, place: TenantPlace, signal: AbortSignal) => Promise<RemoteTarget>;
    readonly inventories: Pick<InventoryStore, "clusters">;
  };
}

/** How long the cluster of another owner may take to be opened. */
const openingMs = 5_000;
/** A cluster that took longer is not opened again for this time, so that it slows no other run. */
const forgetMs = 60_000;
/** How many clusters are opened at the same time: those that do not answer do not delay others. */
const openings = 32;
/** For each clock: until when a cluster that did not answer is not tried again, by the home cluster and `spec.kubeConfig`. */
const silent = new WeakMap<Clock, Map<string, number>>();

/**
 * The owners among these whose objects are in our objects' cluster: elsewhere objects of the same names are different ones. An owner
 * that names the same target shares it, and so does one that has finished its present spec and has a saved inventory of our cluster.
 * Any other cluster is opened, for some seconds at most: a missing inventory under our cluster's name proves nothing, since one
 * cluster has several names, and the reference may have changed. An owner that does not answer in that time is included.
 *
 * @param orUnknown whether an owner is included if its cluster refuses to be opened
 */
export async function sharingTarget(
  all: readonly LiveObject[],
  orUnknown: boolean,
  ctx: SharingContext,
): Promise<ReadonlySet<LiveObject>> {
  const { homeUid, live: self, owner, remote, run } = ctx;
  const ownText = remote === undefined ? undefined : kubeConfigText(self);
  /** By the reference in their spec. */
  const known = new Map<string, Promise<boolean>>();
  const isShared = async (other: LiveObject, signal: AbortSignal): Promise<boolean> => {
    if (!hasKubeConfig(other)) return homeUid === owner.clusterUid;
    const text = kubeConfigText(other);
    if (text === ownText) return true;
    const saved = isDone(other) ? await savedClusters(other, ctx, signal) : [];
    if (ours(ctx).some((uid) => saved.includes(uid))) return true;
    const asked = known.get(text) ?? opensOurs(other, orUnknown, ctx, signal);
    known.set(text, asked);
    return asked;
  };
  const shared = await mapLimit(all, openings, isShared, run.signal);
  return new Set(all.filter((_, index) => shared[index] === true));
}

/** The key of our objects' cluster. */
export function ours({ owner: { clusterUid }, remote }: Pick<SharingContext, "owner" | "remote">): readonly string[] {
  return remote === undefined || remote === "closed" ? [clusterUid] : [clusterUid, remote.fallbackUid];
}

/** The clusters for which an owner has a saved inventory. */
export async function savedClusters(
  live: LiveObject,
  ctx: SharingContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return ctx.deps.inventories.clusters({ uid: live.metadata.uid }, fenceOf(live, ctx), signal);
}

/** To read what another owner has saved: that takes no lease. */
export function fenceOf(live: LiveObject, { run }: Pick<SharingContext, "run">): Fence {
  return { key: { cluster: run.key.cluster, ...refOf(live) }, token: 0 };
}

/** Whether its saved inventories are of its present target. */
function isDone({ metadata: { generation }, status }: LiveObject): boolean {
  return isJsonObject(status) && status["observedGeneration"] === generation;
}

async function opensOurs(
  other: LiveObject,
  orUnknown: boolean,
  ctx: SharingContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { deps, home, run } = ctx;
  const until = silent.get(deps.clock) ?? new Map<string, number>();
  silent.set(deps.clock, until);
  for (const [text, time] of until) if (time <= deps.clock.now()) until.delete(text);
  const text = `${run.key.cluster} ${kubeConfigText(other)}`;
  if (until.has(text)) return true;
  using opening = limited(openingMs, signal);
  try {
    const target = deps.remoteTargetOf(other, { home, cluster: run.key.cluster }, opening.signal);
    const { uid, fallbackUid } = await Promise.race([target, opening.isOver]);
    return ours(ctx).some((one) => one === uid || one === fallbackUid);
  } catch (error) {
    signal.throwIfAborted();
    if (opening.signal.aborted) {
      until.set(text, deps.clock.now() + forgetMs);
      return true;
    }
    // Whatever another owner's server answers is not an error of this run.
    if (!(error instanceof Failure || error instanceof ApiError || isOutage(error))) throw error;
    return orUnknown;
  }
}

/** A signal that is aborted after this time, with a promise that then rejects. */
function limited(ms: number, signal: AbortSignal) {
  const limit = new AbortController();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  const timer = setTimeout(() => {
    const reason = new Outage("ReconciliationFailed", "the cluster of another owner does not answer");
    limit.abort(reason);
    over.reject(reason);
  }, ms);
  return {
    signal: AbortSignal.any([signal, limit.signal]),
    isOver: over.promise,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
