import { describe, expect, test } from "vitest";
import { helmGroup, kustomizeGroup } from "../../../lib/api/names.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { testTimeoutMs } from "../../deadline.ts";
import { callStride } from "../../size.ts";
import { configMap, configMapRef, namespaceNamed, placed } from "./sample-manifests.ts";
import { settle as settleUntilReady } from "./taking-along.ts";
import type { World } from "./world.ts";

const folders = (a: readonly Manifest[], b: readonly Manifest[]) => ({ folders: { a, b } });
const x = configMap("x");

async function names(world: World, owner: string): Promise<readonly string[]> {
  return (await world.inventory(owner)).map(({ id }) => id.split("_")[1] ?? id);
}

async function labelledOwner(world: World): Promise<string | undefined> {
  return (await world.get("ConfigMap", "x"))?.metadata.labels?.[`${kustomizeGroup}/name`];
}

async function begin(world: World, tag = ""): Promise<void> {
  await world.publish(`begin${tag}`, [], folders([x], []));
  await world.kustomization("a", { path: "a" });
  await world.kustomization("b", { path: "b" });
  await world.run("a");
  await world.run("b");
}

/** Runs this owner until this call. `ledger.claim done`: it has claimed its objects and has not applied any. */
async function runKilledAt(world: World, owner: string, at = "ledger.claim done"): Promise<void> {
  world.fault = (call) => {
    if (call === at) throw new Error("killed");
  };
  await expect(world.run(owner)).rejects.toThrow("killed");
  world.fault = () => {};
}

/** `x` is a's; b has claimed it and not applied it. */
async function claimed(world: World): Promise<void> {
  await begin(world);
  await world.publish("both", [], folders([x], [x]));
  await world.run("a");
  await runKilledAt(world, "b");
}

/** Runs these objects until none of them requests another run, as the queue does. */
async function settle(world: World, ...owners: readonly string[]): Promise<void> {
  let due: readonly string[] = owners;
  for (let rounds = 0; due.length > 0; rounds++) {
    expect(rounds, "they keep waking each other").toBeLessThan(10);
    const from = world.requested.length;
    for (const owner of due) await world.run(owner);
    due = [...new Set(world.requested.slice(from).map((name) => name.replace("Kustomization/", "")))];
  }
}

/** Whether it is gone, and in no inventory. */
async function isGoneFromAll(world: World): Promise<boolean> {
  const known = [...(await names(world, "a")), ...(await names(world, "b"))];
  return (await world.get("ConfigMap", "x")) === undefined && !known.includes("x");
}

/** An object changes hands only with its labels: until then its former owner knows it. */
export function handoverStories(name: string, newWorld: () => Promise<World>): void {
  describe(`an object between two Kustomizations on ${name}`, () => {
    test.each([[["a", "b"]], [["b", "a"]]])(
      "is deleted if its next owner died between claim and apply and neither wants it any longer, in the order %s",
      async (order) => {
        const world = await newWorld();
        await claimed(world);
        await world.publish("neither", [], folders([], []));
        await settle(world, ...order);
        expect(await isGoneFromAll(world)).toBe(true);
      },
    );

    test("is deleted if its next owner drops it while it still waits for its stage of definitions", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-held`;
      const { cluster, signal } = world;
      await cluster.create(namespaceNamed(within), { manager: "test" }, signal);
      const held = placed(within, configMap("held", {}, { finalizers: ["example.com/hold"] }));
      await cluster.create(held, { manager: "test" }, signal);
      const namespace = { group: "", version: "v1", kind: "Namespace", namespace: "", name: within };
      await cluster.delete(namespace, { propagation: "Background" }, signal);
      await begin(world);
      await world.publish("moved", [], folders([x], [namespaceNamed(within), x]));
      expect(await world.run("b")).toMatchObject({ outcome: "waiting" });
      expect(await labelledOwner(world)).toBe("a");

      // The next push removes it from both; b still waits and cannot release it yet.
      await world.publish("neither", [], folders([], [namespaceNamed(within)]));
      await settle(world, "a", "b");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      expect(await names(world, "a")).toContain("x");
      expect((await world.status("a"))["inventory"]).toEqual({
        entries: [{ id: `${world.namespace}_x__ConfigMap`, v: "v1" }],
      });
      expect(await world.ready("a")).toMatch(/^True/);

      const none = { metadata: { finalizers: null } };
      const ref = configMapRef(within, "held");
      await cluster.patch(ref, { type: "merge", body: none }, { manager: "test" }, signal);
      await expect.poll(() => cluster.get(namespace, signal)).toBeUndefined();
      await settleUntilReady(world, "b");
      expect(world.requested).toContain("Kustomization/a");
      await settle(world, "a");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("stays with its former owner while its next owner has only claimed it, and each run after the first reports that", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.kustomization("b", { path: "b", suspend: true });
      const why = `Kustomization/${world.namespace}/b claims it and has not applied it yet`;
      const told = `Normal HandingOver: ConfigMap/${world.namespace}/x not deleted: ${why}`;
      for (let runs = 0; runs < 3; runs++) {
        await settle(world, "a");
        // A next owner that is only a moment later is no news.
        expect((await world.events("a")).filter((event) => event === told)).toHaveLength(runs);
        expect(await world.get("ConfigMap", "x")).toBeDefined();
        expect(await world.ready("a")).toMatch(/^True/);
        expect(await names(world, "a")).toEqual(["x"]);
      }
      // Once, however often a looks again.
      expect(world.requested.filter((name) => name === "Kustomization/b")).toHaveLength(1);
      expect(world.logged).toContainEqual(
        expect.objectContaining({
          message: "objects not pruned",
          objects: [{ object: `ConfigMap/${world.namespace}/x`, why }],
        }),
      );

      const uid = (await world.get("ConfigMap", "x"))?.metadata.uid;
      await world.kustomization("b", { path: "b", suspend: false });
      await world.run("b");
      expect(await labelledOwner(world)).toBe("b");
      await world.run("a");
      expect(await names(world, "a")).toEqual([]);
      expect((await world.events("a")).at(-2)).toBe(`Normal Progressing: ConfigMap/${world.namespace}/x skipped`);
      expect((await world.get("ConfigMap", "x"))?.metadata.uid).toBe(uid);
      await world.publish("neither", [], folders([], []));
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("moves to a HelmRelease that has applied it, without any label, field or manager of the Kustomization", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      await world.publish("begin", [configMap("x", { ours: "only" })]);
      await world.kustomization("a");
      await world.run("a");
      const uid = (await world.get("ConfigMap", "x"))?.metadata.uid;
      const spec = { interval: "1h", chartRef: { kind: "OCIRepository", name: "chart" } };
      const release = {
        apiVersion: `${helmGroup}/v2`,
        kind: "HelmRelease",
        metadata: { name: "web", namespace },
        spec,
      };
      const { object } = await cluster.apply(release, { manager: "test", force: true }, signal);
      const id = `${namespace}_x__ConfigMap`;
      await world.claim({ id, owner: `HelmRelease/${namespace}/web`, ownerUid: object.metadata.uid });
      await world.publish("moved", []);
      await world.run("a");
      // Claimed, and not applied yet: the HelmRelease is asked for a run.
      expect(world.requested).toContain("HelmRelease/web");
      expect(await names(world, "a")).toEqual(["x"]);
      expect((await world.get("ConfigMap", "x"))?.metadata.uid).toBe(uid);

      const labels = { [`${helmGroup}/name`]: "web", [`${helmGroup}/namespace`]: namespace };
      const charted = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "x", namespace, labels },
        data: { k: "v" },
      };
      await cluster.apply(charted, { manager: "helm-controller", force: true }, signal);
      await world.run("a");
      const live = await world.get("ConfigMap", "x");
      expect(live).toMatchObject({ metadata: { uid }, data: { k: "v" } });
      expect(live?.["data"]).toEqual({ k: "v" });
      expect(live?.metadata.labels).toEqual(labels);
      expect(live?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["helm-controller"]);
      expect(await names(world, "a")).toEqual([]);
      expect(await world.ready("a")).toMatch(/^True/);
      // Nothing of it is left to do.
      const { length } = world.requested;
      await world.run("a");
      expect(world.requested).toHaveLength(length);
    });

    test("is deleted if its next owner is deleted before its former owner has dropped it", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.remove("b");
      expect(await world.run("b")).toMatchObject({ outcome: "deleted" });
      await settle(world, "a");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted if its next owner is deleted after its former owner has dropped it, and the former owner runs again", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.run("a");
      expect(await names(world, "a")).toEqual(["x"]);
      await world.remove("b");
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted at once by its former owner if its next owner is being deleted with all its objects", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.remove("b");
      await world.run("a");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted by its former owner if its next owner is deleted and leaves its objects", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.kustomization("b", { path: "b", deletionPolicy: "Orphan" });
      await world.run("a");
      expect(await names(world, "a")).toEqual(["x"]);
      await world.remove("b");
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("stays with its next owner's labels if its former owner was killed in the hand-over and the next owner is deleted", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.kustomization("b", { path: "b", deletionPolicy: "Orphan" });
      await world.remove("a");
      await runKilledAt(world, "a", "cluster.patch done");
      await world.remove("b");
      await world.run("b");
      expect(await world.run("a")).toMatchObject({ outcome: "deleted" });
      // ADR 0015: the labels decide, since the ledger may be behind.
      expect(await labelledOwner(world)).toBe("b");
    });

    test("is deleted if its next owner is deleted and its claim was never removed", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.patch("b", { metadata: { finalizers: null } }, { manager: "test" });
      await world.remove("b");
      await world.publish("neither", [], folders([], []));
      await world.run("a");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted with its next owner, even if its former owner has not yet noticed the hand-over", async () => {
      const world = await newWorld();
      await begin(world);
      await world.publish("moved", [], folders([], [x]));
      await world.run("a");
      await world.run("b");
      expect(await labelledOwner(world)).toBe("b");
      expect(await names(world, "a")).toEqual(["x"]);
      await world.remove("b");
      await world.publish("neither", [], folders([], []));
      expect(await world.run("b")).toMatchObject({ outcome: "deleted" });
      await settle(world, "a");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted when its next owner drops it, even if its former owner has not yet noticed the hand-over", async () => {
      const world = await newWorld();
      await begin(world);
      await world.publish("moved", [], folders([], [x]));
      await world.run("a");
      await world.run("b");
      await world.publish("neither", [], folders([], []));
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("belongs to its next owner if its former owner is deleted first, and is deleted with the next owner", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.kustomization("b", { path: "b", suspend: true });
      await world.remove("a");
      expect(await world.run("a")).toMatchObject({ outcome: "deleted" });
      expect(await labelledOwner(world)).toBe("b");
      await world.kustomization("b", { path: "b", suspend: false });
      await world.publish("neither", [], folders([], []));
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("belongs to its next owner even if that one has claimed it, is about to apply it and then drops it", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.remove("a");
      expect(await world.run("a")).toMatchObject({ outcome: "deleted" });
      expect(await labelledOwner(world)).toBe("b");
      await world.publish("neither", [], folders([], []));
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted by its former owner if a next owner that never applied it released it with prune: false", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.kustomization("b", { path: "b", prune: false });
      await runKilledAt(world, "b");
      await world.run("a");
      expect(await names(world, "a")).toEqual(["x"]);
      await world.publish("neither", [], folders([], []));
      await settle(world, "b");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("does not make two owners keep waking each other if each has objects that the other skips", async () => {
      const world = await newWorld();
      const once = (name: string) =>
        configMap(name, {}, { annotations: { [`${kustomizeGroup}/ssa`]: "IfNotPresent" } });
      await world.publish("v1", [], folders([once("x")], [once("y")]));
      await world.kustomization("a", { path: "a" });
      await world.kustomization("b", { path: "b" });
      await settle(world, "a", "b");
      await world.publish("v2", [], folders([once("x"), once("y")], [once("x"), once("y")]));
      await settle(world, "a", "b");
      await world.publish("v3", [], folders([once("y")], [once("x")]));
      await settle(world, "a", "b", "a");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      expect(await world.get("ConfigMap", "y")).toBeDefined();
      await world.publish("v4", [], folders([], []));
      await settle(world, "a", "b");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
      expect(await world.get("ConfigMap", "y")).toBeUndefined();
    });

    test.each([
      { order: ["a", "b"], first: 1, calls: "odd" },
      { order: ["a", "b"], first: 2, calls: "even" },
      { order: ["b", "a"], first: 1, calls: "odd" },
      { order: ["b", "a"], first: 2, calls: "even" },
    ])(
      "is deleted even if a run of either owner that drops it is killed, in the order $order, at its $calls calls",
      { timeout: 2 * testTimeoutMs },
      async ({ order, first }) => {
        const world = await newWorld();
        for (let at = first, ended = false; !ended; at += 2 * callStride) {
          await begin(world, `-${at}`);
          await world.publish(`both-${at}`, [], folders([x], [x]));
          await runKilledAt(world, "b");
          await world.publish(`neither-${at}`, [], folders([], []));
          let calls = 0;
          world.fault = (call) => {
            if (++calls === at) throw new Error(`killed at ${call}`);
          };
          for (const owner of order) await world.run(owner).catch(() => undefined);
          world.fault = () => {};
          ended = calls < at;
          // A killed run is repeated; the interval replaces lost wake-ups.
          await settle(world, ...order);
          await settle(world, "a");
          expect(await isGoneFromAll(world)).toBe(true);
        }
      },
    );
  });
}
