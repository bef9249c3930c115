import { ownerLabels } from "../../../../lib/api/names.ts";
import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import { isJsonObject } from "../../../../lib/core/json.ts";
import { type Metadata, refOf } from "../../../../lib/core/manifest.ts";
import type { Cluster } from "../../../../lib/core/ports/cluster.ts";
import type { Fence } from "../../../../lib/core/ports/fence.ts";
import { asHome, asTarget } from "../../../../lib/core/ports/home-and-target.ts";
import type { Run } from "../../../../lib/core/ports/run.ts";
import { namespace, type OwnershipMutation, type OwnershipWorld } from "./ownership-world.ts";
import type { Ports } from "./ports-of-run.ts";

/** A rule about who owns what, and the code without it: its ports do what it would then do. */
export interface OwnershipTakenOut {
  readonly rule: string;
  readonly mutation: OwnershipMutation;
}

const withPorts = (ports: NonNullable<OwnershipMutation["ports"]>): OwnershipMutation => ({ ports });
const withCluster = (patch: (cluster: Cluster, run: Run, world: OwnershipWorld, ports: Ports) => Partial<Cluster>) =>
  withPorts((ports, run, world) => {
    const cluster = { ...ports.home, ...patch(ports.home, run, world, ports) };
    return { home: asHome(cluster), targetOf: async () => asTarget(cluster) };
  });

export const ownershipTakenOut: readonly OwnershipTakenOut[] = [
  {
    rule: "an object is in the inventory before it is applied",
    mutation: withPorts(({ inventories }) => ({
      inventories: {
        ...inventories,
        save: (owner, entries, fence, signal) =>
          inventories.save(
            owner,
            entries.filter(({ state }) => state !== "planned"),
            fence,
            signal,
          ),
      },
    })),
  },
  {
    rule: "an object is claimed before it is applied",
    mutation: withPorts(({ ledger }) => ({ ledger: { ...ledger, claim: async () => {} } })),
  },
  {
    rule: "an entry leaves the inventory only when its object is gone",
    mutation: withCluster((cluster, run, world, { inventories }) => ({
      delete: async (ref, options, signal) => {
        const owner = { uid: uidOf(run, world), clusterUid: await cluster.uid(signal) };
        const entries = (await inventories.load(owner, run.fence, signal)) ?? [];
        const left = entries.filter(({ id }) => id !== formatEntryId(ref));
        await inventories.save(owner, left, run.fence, signal);
        return cluster.delete(ref, options, signal);
      },
    })),
  },
  {
    rule: "an object is handed over only once it has its new owner's labels; a claim is not enough",
    mutation: withCluster((cluster, run, world) => {
      const asClaimed = async <Found extends Seen>(found: Found): Promise<Found> => {
        const claims = await world.claims(formatEntryId(refOf(found)));
        const heir = claims.map(({ owner }) => nameOf(owner)).find((name) => name !== run.key.name);
        if (found.kind !== "ConfigMap" || heir === undefined || world.kustomization(heir) === undefined) return found;
        return { ...found, metadata: { ...found.metadata, labels: ownerLabels({ name: heir, namespace }) } };
      };
      return {
        get: async (ref, signal) => {
          const found = await cluster.get(ref, signal);
          return found && asClaimed(found);
        },
        listMetadata: async (query, signal) =>
          Promise.all((await cluster.listMetadata(query, signal)).map((found) => asClaimed(found))),
      };
    }),
  },
  {
    rule: "an object that is left in the cluster with prune: false loses its claim",
    mutation: withPorts(({ ledger }, run, world) => ({
      ledger: {
        ...ledger,
        release: async (...args) => {
          const spec = world.kustomization(run.key.name)?.["spec"];
          if (!isJsonObject(spec) || spec["prune"] !== false) await ledger.release(...args);
        },
      },
    })),
  },
  {
    rule: "a delete names the version of the object that was judged",
    mutation: withCluster((cluster) => ({
      delete: (ref, { uid: _uid, resourceVersion: _version, ...options }, signal) =>
        cluster.delete(ref, options, signal),
    })),
  },
  {
    rule: "an object that another Kustomization of the same source will apply is not deleted",
    mutation: withCluster((cluster, run) => ({
      list: async (query, signal) =>
        (await cluster.list(query, signal)).filter(({ metadata }) => metadata.name === run.key.name),
    })),
  },
  {
    rule: "every write to inventories and ledger carries the lease's token",
    mutation: withPorts(({ inventories, ledger }, _run, world) => {
      const latest = (fence: Fence): Fence => ({ ...fence, token: world.tokenOf(fence.key.name) });
      return {
        inventories: {
          ...inventories,
          save: (owner, entries, fence, signal) => inventories.save(owner, entries, latest(fence), signal),
          remove: (owner, fence, signal) => inventories.remove(owner, latest(fence), signal),
        },
        ledger: {
          ...ledger,
          claim: (uid, claims, fence, signal) => ledger.claim(uid, claims, latest(fence), signal),
          release: (uid, owner, ids, fence, signal) => ledger.release(uid, owner, ids, latest(fence), signal),
        },
      };
    }),
  },
  {
    rule: "a Kustomization has its finalizer before anything is written for it",
    mutation: withCluster((cluster, run, world) => ({
      patch: async (ref, patch, options, signal) => {
        const live = world.kustomization(run.key.name);
        const isFinalizer = patch.type === "merge" && isJsonObject(patch.body["metadata"]);
        return isFinalizer && live !== undefined ? live : cluster.patch(ref, patch, options, signal);
      },
    })),
  },
  {
    rule: "a Kustomization subscribes to its source",
    mutation: withPorts(({ subscriptions }) => ({ subscriptions: { ...subscriptions, subscribe: async () => {} } })),
  },
  {
    rule: "the observed state of a custom resource is stored only after its run was requested",
    mutation: {
      observe: async ({ key, metadata }, { observed, requests }, signal) => {
        const { uid = "", generation = 0, deletionTimestamp } = metadata;
        const summary = JSON.stringify([uid, generation, null, deletionTimestamp !== undefined]);
        if ((await observed.get(key, signal)) === summary) return false;
        await observed.put(key, summary, signal);
        await requests.request(key, "resource changed", signal);
        return true;
      },
    },
  },
];

interface Seen {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

function uidOf(run: Run, world: OwnershipWorld): string {
  return world.kustomization(run.key.name)?.metadata.uid ?? "";
}

/** Of an owner as claims name it. */
function nameOf(owner: string): string {
  return owner.split("/").at(-1) ?? "";
}
