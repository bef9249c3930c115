import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { callStride } from "../../size.ts";
import { configMap, configMapRef, service } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** A run that is killed at its n-th effect, and the next one; whether it ended before it came to that effect. */
async function isUnharmed(world: World, at: number): Promise<boolean> {
  const killed = await isKilled(world, at);
  await world.run("app");
  return !killed;
}

/** A run that is killed at its n-th effect; whether it came to that. */
async function isKilled(world: World, at: number): Promise<boolean> {
  let calls = 0;
  world.fault = (call) => {
    if (++calls === at) throw new Error(`killed at ${call}`);
  };
  // What is only a hint may fail without an end of the run.
  await world.run("app").catch(() => undefined);
  world.fault = () => {};
  return calls >= at;
}

/** A run that is killed anywhere is made good by the next. */
export function faultStories(name: string, newWorld: () => Promise<World>): void {
  describe(`a Kustomization that is killed on ${name}`, () => {
    test("before or after any single effect is finished correctly by the next runs, and nothing is left over", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const desired = [configMap("a", { k: "2" }), configMap("c")];
      for (let at = 1, ended = false; !ended; at += callStride) {
        await world.publish(`before-${at}`, [configMap("a", { k: "1" }), configMap("b")]);
        await world.kustomization("app");
        await world.run("app");
        const revision = await world.publish(`after-${at}`, desired);
        ended = await isUnharmed(world, at);

        expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
        expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "2" });
        expect(await world.get("ConfigMap", "b")).toBeUndefined();
        expect(await world.get("ConfigMap", "c")).toBeDefined();
        expect((await world.inventory("app")).map(({ id, state }) => `${id} ${state}`)).toEqual([
          `${namespace}_a__ConfigMap live`,
          `${namespace}_c__ConfigMap live`,
        ]);
      }
    });

    test("with more objects than it has time for continues in the next run from where it stopped, until all are applied", async () => {
      const world = await newWorld();
      const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
      await world.publish(
        "v1",
        names.map((name) => configMap(name)),
      );
      await world.kustomization("app");
      const inCluster = async () => {
        const found = await Promise.all(names.map((name) => world.get("ConfigMap", name)));
        return found.filter((live) => live !== undefined).length;
      };
      const seen: number[] = [];
      for (;;) {
        // Time for a dry run of each object, and for the applies of four.
        let applies = names.length + 4;
        let isUp = false;
        world.fault = (call) => {
          isUp ||= call === "cluster.apply" && applies-- === 0;
          if (isUp) throw new Error("the invocation's time is up");
        };
        const ended = await world.run("app").then(({ outcome }) => outcome, String);
        world.fault = () => {};
        if (ended === "applied") break;
        expect(ended).toBe("Error: the invocation's time is up");
        expect(await world.ready("app")).toMatch(/^Unknown Progressing/);
        seen.push(await inCluster());
        expect(seen.at(-1)).toBeGreaterThan(seen.at(-2) ?? 0);
      }
      expect(seen.length).toBeGreaterThan(0);
      expect(await inCluster()).toBe(names.length);
      expect(await world.ready("app")).toMatch(/^True/);
      expect((await world.inventory("app")).map(({ state }) => state)).toEqual(names.map(() => "live"));
    });

    test("before or after any effect of a release leaves the released object to its next owner alone", async () => {
      const world = await newWorld();
      for (let at = 1, ended = false; !ended; at += callStride) {
        const next = `next-${at}`;
        await world.publish(`with-${at}`, [], { folders: { app: [configMap("a")], next: [] } });
        await world.kustomization("app", { path: "app", prune: false });
        await world.run("app");
        await world.publish(`without-${at}`, [], { folders: { app: [], next: [] } });
        ended = await isUnharmed(world, at);
        expect((await world.inventory("app")).map(({ state }) => state)).toEqual(["retained"]);

        await world.publish(`next-${at}`, [], { folders: { app: [], next: [configMap("a")] } });
        await world.kustomization(next, { path: "next" });
        await world.run(next);
        await world.publish(`end-${at}`, [], { folders: { app: [], next: [] } });
        await world.run(next);
        expect(await world.get("ConfigMap", "a")).toBeUndefined();
        await world.remove(next);
        await world.run(next);
      }
    });

    test.each([
      { what: "letting go", prune: false },
      { what: "a prune that finds it owned by another", prune: true },
    ])("before or after any effect of $what does not endanger objects that it wants again", async ({ prune }) => {
      const world = await newWorld();
      const wanted = { app: [configMap("a")], other: [configMap("a")] };
      await world.kustomization("app", { path: "app", prune });
      await world.kustomization("other", { path: "other" });
      for (let at = 1, ended = false; !ended; at += callStride) {
        await world.publish(`with-${at}`, [], { folders: wanted });
        await world.patch("app", { spec: { suspend: false } }, { manager: "test" });
        await world.run("app");
        await world.run("other");
        await world.publish(`without-${at}`, [], { folders: { ...wanted, app: [] } });
        ended = !(await isKilled(world, at));
        await world.publish(`again-${at}`, [], { folders: wanted });
        await world.run("app");
        // As if the labels had not moved yet, and with its build not asked for: the ledger alone must protect it.
        await world.patch("app", { spec: { suspend: true } }, { manager: "test" });
        const labels = { [`${kustomizeGroup}/name`]: "other" };
        const body = { metadata: { labels } };
        await world.cluster.patch(
          configMapRef(world.namespace, "a"),
          { type: "merge", body },
          { manager: "x" },
          world.signal,
        );
        await world.publish(`other-${at}`, [], { folders: { ...wanted, other: [] } });
        await world.run("other");
        expect(await world.get("ConfigMap", "a")).toBeDefined();
      }
    });

    test("before or after any effect of its deletion ends with everything deleted", async () => {
      const world = await newWorld();
      for (let at = 1, ended = false; !ended; at += callStride) {
        await world.publish(`v${at}`, [configMap("a"), configMap("b")]);
        await world.kustomization("app");
        await world.run("app");
        await world.remove("app");
        ended = await isUnharmed(world, at);
        expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
        expect(await world.get("ConfigMap", "a")).toBeUndefined();
        expect(await world.get("ConfigMap", "b")).toBeUndefined();
      }
    });

    test("during a failing run keeps the progress of that run", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), service(80)]);
      await world.kustomization("app");
      let applies = 0;
      world.fault = (call) => {
        // Two dry runs come first, then the ConfigMap: the Service is the last.
        if (call === "cluster.apply" && ++applies === 4)
          throw new ApiError({ code: 422, reason: "Invalid", message: "refused" });
      };
      await world.run("app");
      world.fault = () => {};
      // With the proof of the applied object; the failed one is only planned.
      expect(await world.inventory("app")).toMatchObject([
        { id: `${world.namespace}_a__ConfigMap`, state: "live", uid: expect.any(String) },
        { state: "planned" },
      ]);
      await world.run("app");
      const healthChecks = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", namespace: world.namespace }];
      await world.publish("v2", [configMap("a", { k: "2" })]);
      await world.kustomization("app", { healthChecks, timeout: "1s" });
      await world.run("app");
      world.clock.advance(30_000);
      await world.run("app");
      expect(world.remembered).toMatchObject([
        { outcome: "ReconciliationFailed", created: 1, configured: 0, unchanged: 0, deleted: 0 },
        { outcome: "ReconciliationSucceeded", created: 1, configured: 0, unchanged: 1, deleted: 0 },
        { outcome: "HealthCheckFailed", created: 0, configured: 0, unchanged: 1, deleted: 0 },
      ]);
    });
  });
}
