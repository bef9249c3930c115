import { KustomizationStatus } from "../../api/kustomization-status.ts";
import { mapLimit } from "../../core/concurrency.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { isOutage, Outage } from "../../core/ports/outage.ts";
import { hasKubeConfig, kubeConfigText } from "../owner/kube-config-field.ts";
import type { KustomizationContext, KustomizationDeps } from "./context.ts";

/** What is asked of a run and of its installation. */
export type SharingContext = Pick<KustomizationContext, "home" | "homeUid" | "live" | "owner" | "remote" | "run"> & {
  readonly deps: Pick<KustomizationDeps, "clock" | "objects" | "remoteTargetOf"> & {
    readonly inventories: Pick<KustomizationDeps["inventories"], "clusters">;
  };
};

/** How long the cluster of another Kustomization may take to be opened. */
const openingMs = 5_000;
/** A cluster that took longer is not opened again for this time, so it slows no other run. */
const forgetMs = 60_000;
/** How many clusters are opened at the same time: those that do not answer hold up no others. */
const openings = 32;
/** For each installation: until when a cluster that did not answer is not tried again, by its `spec.kubeConfig`. */
const silent = new WeakMap<object, Map<string, number>>();

/**
 * Those of these Kustomizations whose objects are in the cluster that ours are in: elsewhere objects of the same names are others. One
 * that names what we name shares it, and so does one that is done with its present spec and has a saved inventory of our cluster. Any
 * other one is opened, for some seconds at most: that no inventory is saved under a name of ours proves nothing, since one cluster
 * has several names, and what leads to it may have changed. One that does not answer in that time is among them.
 *
 * @param orUnknown whether one whose cluster refuses to be opened is among them
 */
export async function sharingTarget(
  all: readonly LiveObject[],
  orUnknown: boolean,
  ctx: SharingContext,
): Promise<ReadonlySet<LiveObject>> {
  const { homeUid, live: self, owner, remote, run } = ctx;
  const ownText = remote === undefined ? undefined : kubeConfigText(self);
  /** By what they name. */
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

/** What stands for the cluster that our objects are in. */
export function ours({ owner: { clusterUid }, remote }: Pick<SharingContext, "owner" | "remote">): readonly string[] {
  return remote === undefined || remote === "closed" ? [clusterUid] : [clusterUid, remote.fallbackUid];
}

/** The clusters that a Kustomization has a saved inventory of. */
export async function savedClusters(
  { metadata: { namespace = "", name, uid } }: LiveObject,
  { deps: { inventories }, run }: SharingContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Read, not written: that takes no lease.
  return inventories.clusters({ uid }, { key: { ...run.key, namespace, name }, token: 0 }, signal);
}

/** Whether its saved inventories are of what it names now. */
function isDone({ metadata: { generation }, status }: LiveObject): boolean {
  return KustomizationStatus.safeParse(status ?? {}).data?.observedGeneration === generation;
}

async function opensOurs(
  other: LiveObject,
  orUnknown: boolean,
  ctx: SharingContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { deps, home, run } = ctx;
  const until = silent.get(deps.objects) ?? new Map<string, number>();
  silent.set(deps.objects, until);
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
    // Whatever a server answers that others name is no error of this run.
    if (!(error instanceof Failure || error instanceof ApiError || isOutage(error))) throw error;
    return orUnknown;
  }
}

/** A signal that is aborted after this time, with a promise that rejects then. */
function limited(ms: number, signal: AbortSignal) {
  const limit = new AbortController();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  const timer = setTimeout(() => {
    const reason = new Outage("ReconciliationFailed", "the cluster of another Kustomization does not answer");
    limit.abort(reason);
    over.reject(reason);
  }, ms);
  return {
    signal: AbortSignal.any([signal, limit.signal]),
    isOver: over.promise,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
