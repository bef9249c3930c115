import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
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

/** Its run ends where it has claimed what it wants and has applied nothing of it. */
async function claimOnly(world: World, owner: string): Promise<void> {
  world.fault = (call) => {
    if (call === "ledger.claim done") throw new Error("killed");
  };
  await expect(world.run(owner)).rejects.toThrow("killed");
  world.fault = () => {};
}

/** `x` is a's; b has claimed it and not applied it. */
async function claimed(world: World): Promise<void> {
  await begin(world);
  await world.publish("both", [], folders([x], [x]));
  await world.run("a");
  await claimOnly(world, "b");
}

/** What the runs of these ask for is done until nobody asks any more, as the queue does it. */
async function settle(world: World, ...owners: readonly string[]): Promise<void> {
  let due: readonly string[] = owners;
  for (let rounds = 0; due.length > 0; rounds++) {
    expect(rounds, "they wake each other for ever").toBeLessThan(10);
    const from = world.requested.length;
    for (const owner of due) await world.run(owner);
    due = [...new Set(world.requested.slice(from).map((name) => name.replace("Kustomization/", "")))];
  }
}

/** Whether it is gone, and in nobody's inventory. */
async function isGoneFromAll(world: World): Promise<boolean> {
  const known = [...(await names(world, "a")), ...(await names(world, "b"))];
  return (await world.get("ConfigMap", "x")) === undefined && !known.includes("x");
}

/** An object changes hands only with its labels: until then its former owner knows it. */
export function handoverStories(name: string, newWorld: () => Promise<World>): void {
  describe(`an object between two Kustomizations on ${name}`, () => {
    test.each([[["a", "b"]], [["b", "a"]]])(
      "is deleted where its heir died between claim and apply and both want it no more, in the order %s",
      async (order) => {
        const world = await newWorld();
        await claimed(world);
        await world.publish("neither", [], folders([], []));
        await settle(world, ...order);
        expect(await isGoneFromAll(world)).toBe(true);
      },
    );

    test("is deleted where its heir waited for a definition stage before it came to it, and drops it", async () => {
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

      // The next push takes it from both; b waits on and cannot let go yet.
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
      await expect.poll(() => cluster.get(namespace, signal), { timeout: 20_000 }).toBeUndefined();
      await settleUntilReady(world, "b");
      expect(world.requested).toContain("Kustomization/a");
      await settle(world, "a");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("stays its former owner's while its heir has claimed it only, and is told of without a word to the users", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.kustomization("b", { path: "b", suspend: true });
      const before = (await world.events("a")).length;
      for (let runs = 0; runs < 3; runs++) {
        await settle(world, "a");
        expect(await world.get("ConfigMap", "x")).toBeDefined();
        expect(await world.ready("a")).toMatch(/^True/);
        expect(await names(world, "a")).toEqual(["x"]);
      }
      expect((await world.events("a")).slice(before).join()).not.toContain("ConfigMap");
      // Once, however often a looks again.
      expect(world.requested.filter((name) => name === "Kustomization/b")).toHaveLength(1);
      const why = `Kustomization/${world.namespace}/b claims it and has not applied it yet`;
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

    test("is deleted where its heir is deleted before its former owner has dropped it", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.remove("b");
      expect(await world.run("b")).toMatchObject({ outcome: "deleted" });
      await settle(world, "a");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted where its heir is deleted after its former owner has dropped it, which is asked to look again", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.run("a");
      expect(await names(world, "a")).toEqual(["x"]);
      await world.remove("b");
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted at once by its former owner where its heir is being deleted with all that it has", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.remove("b");
      await world.run("a");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted by its former owner where its heir is deleted and leaves all that it has", async () => {
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

    test("is deleted where its heir lives no more and nobody has let go of its claim", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.patch("b", { metadata: { finalizers: null } }, { manager: "test" });
      await world.remove("b");
      await world.publish("neither", [], folders([], []));
      await world.run("a");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is deleted with its heir, although its former owner has not noticed yet that it is the heir's", async () => {
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

    test("is deleted when its heir drops it, although its former owner has not noticed yet that it is the heir's", async () => {
      const world = await newWorld();
      await begin(world);
      await world.publish("moved", [], folders([], [x]));
      await world.run("a");
      await world.run("b");
      await world.publish("neither", [], folders([], []));
      await settle(world, "b");
      expect(await isGoneFromAll(world)).toBe(true);
    });

    test("is its heir's where its former owner is deleted before the heir has applied it, and goes with that", async () => {
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

    test("is its heir's too where that has claimed it and is about to have it, and changes its mind", async () => {
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

    test("is let go of with prune: false by an heir that never applied it: its former owner deletes it", async () => {
      const world = await newWorld();
      await claimed(world);
      await world.publish("moved", [], folders([], [x]));
      await world.kustomization("b", { path: "b", prune: false });
      await claimOnly(world, "b");
      await world.run("a");
      expect(await names(world, "a")).toEqual(["x"]);
      await world.publish("neither", [], folders([], []));
      await settle(world, "b");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("wakes nobody for ever where each has what the other only leaves alone", async () => {
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

    test.each([[["a", "b"]], [["b", "a"]]])(
      "is deleted wherever a run of either is killed that drops it, in the order %s",
      { timeout: 180_000 },
      async (order) => {
        const world = await newWorld();
        for (let at = 1, ended = false; !ended; at++) {
          await begin(world, `-${at}`);
          await world.publish(`both-${at}`, [], folders([x], [x]));
          await claimOnly(world, "b");
          await world.publish(`neither-${at}`, [], folders([], []));
          let calls = 0;
          world.fault = (call) => {
            if (++calls === at) throw new Error(`killed at ${call}`);
          };
          for (const owner of order) await world.run(owner).catch(() => undefined);
          world.fault = () => {};
          ended = calls < at;
          // What is killed is run again; what wakes are lost is made good by the interval.
          await settle(world, ...order);
          await settle(world, "a");
          expect(await isGoneFromAll(world)).toBe(true);
        }
      },
    );
  });
}
