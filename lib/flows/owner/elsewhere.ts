import { parseEntryId } from "../../apply/set/entry-id.ts";
import { someOf } from "../../core/cut-text.ts";
import { Failure } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry, InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Ledger } from "../../core/ports/ledger.ts";
import type { Log } from "../../core/ports/log.ts";
import { isOutage, Outage } from "../../core/ports/outage.ts";
import type { ReconcileRequests } from "../../core/ports/reconcile-requests.ts";
import type { Run } from "../../core/ports/run.ts";
import type { Subscriptions } from "../../core/ports/subscriptions.ts";
import { configTopic, releaseTopic } from "../../core/topics.ts";

// The objects of an owner in clusters other than its run's.

/** An owner of objects, in a run that ends it. */
export interface EndingOwner {
  readonly owner: InventoryOwner;
  readonly run: Pick<Run, "fence" | "key" | "signal">;
  readonly deps: {
    readonly inventories: Pick<InventoryStore, "clusters" | "load" | "remove">;
    readonly ledger: Pick<Ledger, "release">;
    readonly log: Pick<Log, "warn">;
    readonly requests: ReconcileRequests;
    readonly subscriptions: Pick<Subscriptions, "subscribers">;
  };
  record(event: {
    readonly type: "Warning";
    readonly reason: "TargetChanged";
    readonly message: string;
    readonly annotations: Readonly<Record<string, string>>;
  }): void;
}

/** How many objects a message names. */
const maxNamedElsewhere = 10;

/** Whether the error says that a cluster cannot be used now. The state that Sluice keeps itself is something else. */
export function isOfCluster(error: unknown): error is Error {
  if (error instanceof Outage) return error.cause instanceof ApiError;
  return error instanceof Failure || isOutage(error);
}

interface KubeConfigReference {
  readonly secretRef?: { readonly name: string } | undefined;
  readonly configMapRef?: { readonly name: string } | undefined;
}

/** The topic of the Secret or ConfigMap in `spec.kubeConfig`; undefined without one. */
export function kubeConfigTopics(
  kubeConfig: KubeConfigReference | undefined,
  { cluster, namespace }: Pick<Run["key"], "cluster" | "namespace">,
): readonly string[] {
  const { secretRef, configMapRef } = kubeConfig ?? {};
  const [kind, name] =
    secretRef === undefined ? (["ConfigMap", configMapRef?.name] as const) : (["Secret", secretRef.name] as const);
  return name === undefined ? [] : [configTopic({ cluster, kind, namespace, name })];
}

interface SavedElsewhere {
  readonly clusterUid: string;
  readonly entries: readonly InventoryEntry[];
}

type Reading = Pick<EndingOwner, "owner" | "run"> & { readonly deps: Pick<EndingOwner["deps"], "inventories"> };

/** The owner's objects in clusters other than its open target. */
async function savedElsewhere({ deps: { inventories }, owner, run }: Reading): Promise<readonly SavedElsewhere[]> {
  const clusters = await inventories.clusters(owner, run.fence, run.signal);
  const others = clusters.filter((uid) => uid !== owner.clusterUid);
  return Promise.all(
    others.map(async (clusterUid) => ({
      clusterUid,
      entries: (await inventories.load({ ...owner, clusterUid }, run.fence, run.signal)) ?? [],
    })),
  );
}

/** Whether all that is known of the owner is in other clusters than its open target. */
export async function isElsewhere(reading: Reading): Promise<boolean> {
  const { deps, owner, run } = reading;
  if ((await deps.inventories.load(owner, run.fence, run.signal)) !== undefined) return false;
  return hasObjectsElsewhere(reading, {});
}

/** The objects that a deletion would delete. */
function deletable(entries: readonly InventoryEntry[]): readonly InventoryEntry[] {
  return entries.filter(({ state }) => state !== "retained");
}

/**
 * Whether anything of the owner is known to be in clusters other than its open target: by its inventories, or by its status if none
 * is saved.
 */
export async function hasObjectsElsewhere(
  reading: Reading,
  { inventory }: { readonly inventory?: { readonly entries: readonly unknown[] } | undefined },
): Promise<boolean> {
  const saved = await savedElsewhere(reading);
  if (saved.length === 0) return (inventory?.entries ?? []).length > 0;
  return saved.some(({ entries }) => deletable(entries).length > 0);
}

/**
 * Releases the objects in clusters that the owner applied to before, or that it could not open: an event names them, and the owners
 * that wait for its claims are woken. Nothing is deleted there.
 *
 * @param annotations of the event
 */
export async function letGoElsewhere(
  ending: EndingOwner,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const { deps, owner, run } = ending;
  const saved = await savedElsewhere(ending);
  for (const { clusterUid, entries } of saved) {
    const left = deletable(entries);
    if (left.length > 0) {
      const names = someOf(
        left.map(({ id }) => subject(parseEntryId(id))),
        maxNamedElsewhere,
      );
      const message = `left in the cluster known as ${clusterUid}, where nothing is deleted: ${names}`;
      ending.record({ type: "Warning", reason: "TargetChanged", message, annotations });
      deps.log.warn("objects are left in another cluster", { ...run.key, clusterUid, objects: left.length });
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
