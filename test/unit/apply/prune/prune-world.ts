import { z } from "zod";
import type { PruneOrder } from "../../../../lib/apply/prune/prune.ts";
import { usualRules } from "../../../../lib/apply/set/apply-rules.ts";
import type { ApplySet, Expected, OwnerNearby, OwnerState } from "../../../../lib/apply/set/apply-set.ts";
import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import type { LiveObject, Metadata } from "../../../../lib/core/manifest.ts";
import type { ObjectRef } from "../../../../lib/core/object-ref.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import type { TargetCluster } from "../../../../lib/core/ports/home-and-target.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";
import type { Claim } from "../../../../lib/core/ports/ledger.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { noTarget } from "../../../doubles/no-cluster.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";
import { ourApply, owner } from "./sample-facts.ts";

const PatchedMetadata = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()).optional(), resourceVersion: z.string() }),
});

/** A cluster, a ledger and an inventory in memory, and what was done to them, in order. */
export interface PruneWorld {
  readonly set: ApplySet;
  readonly order: PruneOrder;
  readonly done: string[];
  /** By entry id. */
  readonly claims: Map<string, Claim[]>;
  saved: readonly InventoryEntry[];
  readonly expected: Expected[];
  readonly owners: OwnerNearby[];
  /** By uid; no other owner exists. */
  readonly states: Map<string, OwnerState>;
  /** Called before each effect; may change the world or throw. */
  before: (what: string) => void;
  /** Merges this into the metadata of an object, under its next resourceVersion. */
  change(of: ObjectRef, metadata: Partial<Metadata>): void;
  metadata(of: ObjectRef): Metadata | undefined;
}

export function pruneWorld(refs: readonly ObjectRef[], labels: Readonly<Record<string, string>>): PruneWorld {
  const objects = new Map<string, LiveObject>();
  let version = 1;
  for (const { name, namespace, group, kind } of refs) {
    const metadata = { name, namespace, uid: `uid-${name}`, resourceVersion: `${version++}`, labels };
    const apiVersion = group === "" ? "v1" : `${group}/v1`;
    const id = formatEntryId({ name, namespace, group, kind });
    objects.set(id, { apiVersion, kind, metadata: { ...metadata, managedFields: [ourApply] } });
  }
  const conflict = () => new ApiError({ code: 409, reason: "Conflict", message: "the object has been modified" });
  const did = (what: string): void => {
    self.before(what);
    self.done.push(what);
  };
  const cluster: TargetCluster = {
    ...noTarget,
    uid: async () => owner.clusterUid,
    resource: async ({ group, kind }) => {
      return { group, kind, version: "v1", plural: `${kind.toLowerCase()}s`, namespaced: true, verbs: [] };
    },
    get: async (of) => objects.get(formatEntryId(of)),
    delete: async (of, { uid, resourceVersion }) => {
      const id = formatEntryId(of);
      did(`delete ${id}`);
      const live = objects.get(id);
      if (live === undefined) return "gone";
      if (live.metadata.uid !== uid || live.metadata.resourceVersion !== resourceVersion) throw conflict();
      if (live.metadata.finalizers === undefined) {
        objects.delete(id);
        return "deleted";
      }
      self.change(of, { deletionTimestamp: "2026-01-01T00:00:00Z" });
      return "deleting";
    },
    patch: async (of, { body }) => {
      const id = formatEntryId(of);
      did(`patch ${id}`);
      const live = objects.get(id);
      const { labels = {}, resourceVersion } = PatchedMetadata.parse(body).metadata;
      if (live === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "not found" });
      if (resourceVersion !== live.metadata.resourceVersion) throw conflict();
      self.change(of, { labels: { ...live.metadata.labels, ...labels } });
      return objects.get(id) ?? live;
    },
  };
  const entries = [...objects].map(([id, { metadata }]): InventoryEntry => {
    return { id, version: "v1", uid: metadata.uid, state: "live" };
  });
  const claims = new Map(entries.map(({ id }) => [id, [{ id, ownerUid: "uid-app", owner: "Kustomization/team/app" }]]));
  const self: PruneWorld = {
    set: {
      owner: { uid: "uid-app", clusterUid: owner.clusterUid },
      name: owner.name,
      namespace: owner.namespace,
      claimName: "Kustomization/team/app",
      cluster,
      clock: steppedClock(),
      installationKey: new Secret("test"),
      rules: usualRules,
      inventories: {
        load: () => Promise.reject(new Error("the test did not expect a load")),
        clusters: () => Promise.reject(new Error("the test did not expect a load")),
        savedUnder: () => Promise.reject(new Error("the test did not expect a load")),
        save: async (_owner, saved) => {
          did(`save ${saved.map(({ id, state }) => `${id} ${state}`).join(", ")}`);
          self.saved = saved;
        },
      },
      ledger: {
        claims: async (_cluster, ids) => new Map(ids.map((id) => [id, self.claims.get(id) ?? []])),
        claim: async (_cluster, made) => {
          did(`claim ${made.map(({ id }) => id).join(", ")}`);
          for (const claim of made) self.claims.set(claim.id, [...(self.claims.get(claim.id) ?? []), claim]);
        },
        release: async (_cluster, ownerUid, ids) => {
          did(`release ${ids.join(", ")}`);
          for (const id of ids) {
            const left = (self.claims.get(id) ?? []).filter((claim) => claim.ownerUid !== ownerUid);
            self.claims.set(id, left);
          }
        },
      },
      fence: { key: { cluster: "c", group: "g", kind: "Kustomization", namespace: "team", name: "app" }, token: 1 },
      concurrency: 1,
      others: {
        stateOf: async ({ ownerUid }) => self.states.get(ownerUid) ?? "gone",
        ownersAround: async ({ isNear }) => {
          did("ownersAround");
          return { expected: self.expected.filter(({ ref }) => isNear(ref)), owners: self.owners };
        },
        wake: async (other) => did(`wake ${other}`),
        subscribeTo: async (owners) => did(`subscribe ${owners.join(", ")}`),
        announceRelease: async () => did("announce release"),
      },
    },
    order: {
      policy: "prune",
      isFinalizing: false,
      wanted: [],
      planned: [],
      inventory: entries,
      saved: entries,
      live: new Map(),
    },
    done: [],
    claims,
    saved: entries,
    expected: [],
    owners: [],
    states: new Map(),
    before: () => {},
    change: (of, metadata) => {
      const id = formatEntryId(of);
      const live = objects.get(id);
      if (live === undefined) return;
      const next = { ...live.metadata, ...metadata, resourceVersion: `${version++}` };
      objects.set(id, { ...live, metadata: next });
    },
    metadata: (of) => objects.get(formatEntryId(of))?.metadata,
  };
  return self;
}
