import { describe, expect, test } from "vitest";
import { ownerLabels } from "../../../../lib/api/names.ts";
import { gatherFacts, type PruneTask } from "../../../../lib/apply/prune/gather-facts.ts";
import type { Nearness } from "../../../../lib/apply/set/apply-set.ts";
import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import type { ObjectRef } from "../../../../lib/core/object-ref.ts";
import { ApiError, type Cluster, type PartialObject } from "../../../../lib/core/ports/cluster.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";
import { pruneWorld } from "./prune-world.ts";
import { owner, ref } from "./sample-facts.ts";

const { signal } = new AbortController();
const [x, y] = [ref("x"), ref("y")];
const namespace = ref("t", { kind: "Namespace", namespace: "" });
const elsewhere = ref("z", { namespace: "other" });
const definition = ref("cars.example.com", {
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  namespace: "",
});
const car = ref("c", { group: "example.com", kind: "Car" });
const idOf = (of: ObjectRef) => formatEntryId(of);
const listed = (of: ObjectRef): readonly [string, PartialObject] => [
  idOf(of),
  { apiVersion: "v1", kind: of.kind, metadata: { name: of.name, uid: `listed-${of.name}` } },
];

/** Gathers what is about these objects; `reads` and `kinds` are what the cluster was asked. */
function gatherWorld(refs: readonly ObjectRef[], calls: Partial<Cluster> = {}) {
  const world = pruneWorld(refs, ownerLabels(owner));
  const reads: string[] = [];
  const kinds: string[] = [];
  const asked: Nearness[] = [];
  const { cluster, others } = world.set;
  const all = { ...cluster, ...calls };
  const set = {
    ...world.set,
    cluster: {
      ...all,
      get: ((of, stop) => (reads.push(idOf(of)), all.get(of, stop))) satisfies Cluster["get"],
      resource: ((query, stop) => {
        kinds.push([query.kind, query.version].filter((part) => part !== undefined).join(" "));
        return all.resource(query, stop);
      }) satisfies Cluster["resource"],
    },
    others: {
      ...others,
      ownersAround: ((near, stop) => (
        asked.push(near), others.ownersAround(near, stop)
      )) satisfies typeof others.ownersAround,
    },
  };
  const gather = (task: Partial<PruneTask> = {}) => gatherFacts({ ...world.order, ...task }, set, signal);
  return { world, gather, reads, kinds, asked, set };
}

const retained = (entries: readonly InventoryEntry[], ...refs: readonly ObjectRef[]): readonly InventoryEntry[] =>
  entries.map((entry) => (refs.some((of) => idOf(of) === entry.id) ? { ...entry, state: "retained" } : entry));

describe("the facts of a prune", () => {
  test("are empty if everything is wanted or retained, and nothing is read", async () => {
    const { world, gather, reads, kinds, asked } = gatherWorld([x, y]);
    const inventory = retained(world.order.inventory, y);
    expect(await gather({ wanted: [{ ref: x }], inventory, policy: "retain", isFinalizing: true })).toEqual({
      owner,
      clusterUid: "cluster",
      policy: "retain",
      isFinalizing: true,
      wanted: [{ ref: x }],
      entries: [],
      expected: [],
      owners: [],
    });
    expect([reads, kinds, asked]).toEqual([[], [], []]);
  });

  test("name the cluster that was read", async () => {
    const { gather } = gatherWorld([x], { uid: async () => "another" });
    expect((await gather()).clusterUid).toBe("another");
  });

  test("are the listed objects if nothing is deleted: nothing is read, and no other owner is looked up", async () => {
    const { gather, reads, kinds, asked } = gatherWorld([x, y]);
    const { entries } = await gather({ policy: "retain", live: new Map([listed(x)]) });
    expect(entries.map(({ object }) => object)).toEqual([
      { kind: "there", version: "v1", plural: "", metadata: { name: "x", uid: "listed-x" } },
      { kind: "unasked" },
    ]);
    expect([reads, kinds, asked]).toEqual([[], [], []]);
  });

  test("are the listed objects, and a read of each object that the list does not show", async () => {
    const { gather, reads, world } = gatherWorld([x, y]);
    const { entries } = await gather({ live: new Map([listed(x)]) });
    expect(entries.map(({ ref: of, object }) => [of, object])).toEqual([
      [x, { kind: "there", version: "v1", plural: "configmaps", metadata: { name: "x", uid: "listed-x" } }],
      [y, { kind: "there", version: "v1", plural: "configmaps", metadata: world.metadata(y) }],
    ]);
    expect(reads).toEqual([idOf(y)]);
  });

  test("use the preferred version of the cluster if the recorded one is no longer served", async () => {
    const v2 = { group: "", kind: "ConfigMap", version: "v2", plural: "maps", namespaced: true, verbs: [] };
    const read: string[] = [];
    const { gather, kinds } = gatherWorld([x], {
      resource: async ({ version }) => (version === undefined ? v2 : undefined),
      get: async ({ version }) => {
        read.push(version);
        return undefined;
      },
    });
    expect((await gather({ live: new Map([listed(x)]) })).entries[0]?.object).toMatchObject({
      version: "v2",
      plural: "maps",
    });
    expect(kinds).toEqual(["ConfigMap v1", "ConfigMap"]);
    expect((await gather()).entries[0]?.object).toEqual({ kind: "gone" });
    expect(read).toEqual(["v2"]);
  });

  test("report an object as gone if its kind is no longer served", async () => {
    const { gather, reads } = gatherWorld([x], { resource: async () => undefined });
    expect((await gather()).entries[0]?.object).toEqual({ kind: "gone" });
    expect(reads).toEqual([]);
  });

  test("contain the reason why an object cannot be read; an error without an answer ends the run", async () => {
    const forbidden = new ApiError({ code: 403, reason: "Forbidden", message: "not allowed" });
    const { gather } = gatherWorld([x], { get: () => Promise.reject(forbidden) });
    expect((await gather()).entries[0]?.object).toEqual({
      kind: "unknown",
      message: "query failed: not allowed",
      isForbidden: true,
    });
    const away = new ApiError({ code: 503, reason: "ServiceUnavailable", message: "later" });
    const { gather: again } = gatherWorld([x], { get: () => Promise.reject(away) });
    expect((await again()).entries[0]?.object).toEqual({ kind: "unknown", message: "query failed: later" });
    const lost = new Error("time is up");
    await expect(gatherWorld([x], { get: () => Promise.reject(lost) }).gather()).rejects.toBe(lost);
  });

  test("name the other claimants of an object in the ledger's order, each looked up once", async () => {
    const { world, gather, set } = gatherWorld([x, y]);
    const claimed = (of: ObjectRef, uid: string) => ({
      id: idOf(of),
      ownerUid: uid,
      owner: `Kustomization/team/${uid}`,
    });
    world.claims.set(idOf(x), [claimed(x, "c"), claimed(x, "uid-app"), claimed(x, "b")]);
    world.claims.set(idOf(y), [claimed(y, "b")]);
    world.states.set("b", "deleting");
    const looked: string[] = [];
    set.others.stateOf = (claim, stop) => (looked.push(claim.ownerUid), world.set.others.stateOf(claim, stop));
    const [ofX, ofY] = (await gather()).entries.map(({ claimants }) => claimants);
    const [b, c] = [
      { uid: "b", owner: "Kustomization/team/b", state: "deleting" },
      { uid: "c", owner: "Kustomization/team/c", state: "gone" },
    ];
    expect([ofX, ofY]).toEqual([[c, b], [b]]);
    expect(looked.toSorted()).toEqual(["b", "c"]);
  });
});

describe("the facts about objects that would be deleted along", () => {
  test("are gathered by name: unwanted objects, and objects in a namespace that is to be deleted", async () => {
    const { gather, asked } = gatherWorld([namespace, elsewhere]);
    await gather();
    expect(asked.map(({ mayCascade }) => mayCascade)).toEqual([true]);
    const isNear = asked[0]?.isNear ?? (() => undefined);
    expect([x, namespace, elsewhere, ref("other", { namespace: "other" })].map(isNear)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("are empty if no namespace or definition is to be deleted, and are not gathered for a deleted owner", async () => {
    const plain = gatherWorld([x]);
    await plain.gather();
    expect(plain.asked.map(({ mayCascade, isNear }) => [mayCascade, isNear(x), isNear(y)])).toEqual([
      [false, true, false],
    ]);
    const ofFinalizing = gatherWorld([namespace]);
    await ofFinalizing.gather({ isFinalizing: true });
    expect(ofFinalizing.asked.map(({ mayCascade }) => mayCascade)).toEqual([false]);
    const gone = gatherWorld([namespace], { get: async () => undefined });
    await gone.gather();
    expect(gone.asked.map(({ mayCascade }) => mayCascade)).toEqual([false]);
  });

  test("include retained objects in it, but none elsewhere", async () => {
    const { world, gather } = gatherWorld([namespace, x, elsewhere]);
    const inventory = retained(world.order.inventory, x, elsewhere);
    const refs = async (task: Partial<PruneTask>) => (await gather(task)).entries.map((one) => one.ref.name);
    expect(await refs({ inventory })).toEqual(["t", "x"]);
    expect(await refs({ inventory, isFinalizing: true })).toEqual(["t"]);
    expect(await refs({ inventory, wanted: [{ ref: namespace }] })).toEqual([]);
  });

  test("use plurals of kinds for a definition, each looked up once; a namespace needs none", async () => {
    const other = ref("d", { group: "example.com", kind: "Lorry" });
    const near = (world: ReturnType<typeof gatherWorld>["world"]): void => {
      world.expected.push({ ref: car, owner: "Kustomization/team/b" });
      const has = [{ ref: { ...car, name: "e" } }, { ref: other }];
      const self = ref("b", { group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization" });
      world.owners.push({ ref: self, isSelf: false, isTerminating: false, cascades: true, has });
    };
    const { world, gather, kinds } = gatherWorld([definition]);
    near(world);
    const { expected, owners } = await gather();
    expect(expected.map(({ plural }) => plural)).toEqual(["cars"]);
    expect(owners.map(({ plural, has }) => [plural, has.map((one) => one.plural)])).toEqual([
      ["kustomizations", ["cars", "lorrys"]],
    ]);
    expect(kinds.filter((kind) => kind === "Car")).toHaveLength(1);
    const plain = gatherWorld([namespace]);
    near(plain.world);
    const without = await plain.gather();
    expect([without.owners[0]?.plural, without.owners[0]?.has]).toEqual([undefined, plain.world.owners[0]?.has]);
  });
});
