import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { objectCache } from "../../../lib/flows/kustomization/object-cache.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** `a` is in the artifact of both, and their health never comes. */
async function waiting(world: World): Promise<void> {
  await world.publish("v1", [configMap("a")]);
  const healthChecks = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", namespace: world.namespace }];
  const spec = { healthChecks, timeout: "60s", retryInterval: "30s" };
  for (const name of ["first", "second"]) {
    await world.kustomization(name, spec);
    expect(await world.run(name)).toMatchObject({ outcome: "waiting" });
  }
}

async function labelledOwner(world: World): Promise<string | undefined> {
  return (await world.get("ConfigMap", "a"))?.metadata.labels?.[`${kustomizeGroup}/name`];
}

async function written(world: World, name: string): Promise<number> {
  const object = `ConfigMap/${world.namespace}/a`;
  const lines = [`${object} created`, `${object} configured`];
  return (await world.events(name)).filter((event) => lines.some((line) => event.endsWith(`: ${line}`))).length;
}

async function contests(world: World, name: string): Promise<readonly string[]> {
  return (await world.events(name)).filter((event) => event.includes("ObjectContested"));
}

/** Two Kustomizations that have the same object in their artifacts. */
export function contestedStories(name: string, newWorld: () => Promise<World>): void {
  describe(`an object that two Kustomizations want on ${name}`, () => {
    test("is written once per attempt, however often its health is checked", async () => {
      const world = await newWorld();
      await waiting(world);
      const before = (await world.get("ConfigMap", "a"))?.metadata.resourceVersion;
      for (let looks = 0; looks < 3; looks++) {
        expect(await world.runDue("first")).toMatchObject({ outcome: "waiting" });
        expect(await world.runDue("second")).toMatchObject({ outcome: "waiting" });
      }
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(before);
      expect(await labelledOwner(world)).toBe("second");
      world.clock.advance(60_000);
      expect(await world.runDue("first")).toMatchObject({ outcome: "failed", dueInMs: 30_000 });
      expect(await world.runDue("second")).toMatchObject({ outcome: "failed", dueInMs: 30_000 });
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(before);
      // The next attempt of each.
      expect(await world.runDue("first")).toMatchObject({ outcome: "waiting" });
      expect(await labelledOwner(world)).toBe("first");
      expect([await written(world, "first"), await written(world, "second")]).toEqual([2, 1]);
    });

    test("causes an event that names the other owner when one owner takes it back at its interval", async () => {
      const world = await newWorld();
      await waiting(world);
      await world.run("first");
      await world.run("second");
      expect([...(await contests(world, "first")), ...(await contests(world, "second"))]).toEqual([]);
      world.clock.advance(60_000);
      for (const name of ["first", "second"]) expect(await world.runDue(name)).toMatchObject({ outcome: "failed" });
      await world.runDue("first");
      const { namespace } = world;
      expect(await contests(world, "first")).toEqual([
        `Warning ObjectContested: ConfigMap/${namespace}/a was applied by Kustomization/${namespace}/second since the last apply of ` +
          "this Kustomization, and is now applied again: where two have the same object, they write it by turns, each at its " +
          "own interval. Take it out of one of them",
      ]);
      await world.runDue("first");
      expect(await contests(world, "first")).toHaveLength(1);
      expect(await contests(world, "second")).toEqual([]);
      await world.runDue("second");
      expect(await contests(world, "second")).toHaveLength(1);
    });

    test("is written at once by a requested run, also during a wait", async () => {
      const world = await newWorld();
      await waiting(world);
      await world.runDue("first");
      expect(await labelledOwner(world)).toBe("second");
      await world.run("first");
      expect(await labelledOwner(world)).toBe("first");
    });

    test("is recreated during a wait if it was deleted", async () => {
      const world = await newWorld();
      await waiting(world);
      const ref = configMapRef(world.namespace, "a");
      await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
      await world.runDue("first");
      expect(await labelledOwner(world)).toBe("first");
    });

    test("moves from one to the other without such an event", async () => {
      const world = await newWorld();
      const folders = (a: readonly string[], b: readonly string[]) => {
        const of = (names: readonly string[]) => names.map((one) => configMap(one));
        return { folders: { a: of(a), b: of(b) } };
      };
      await world.publish("v1", [], folders(["a"], []));
      await world.kustomization("first", { path: "a" });
      await world.kustomization("second", { path: "b" });
      await world.run("first");
      await world.run("second");
      // Runs that nothing has asked for, in processes that have cached neither of them.
      const runDueElsewhere = async (one: string): Promise<void> => {
        world.objects = objectCache();
        await world.runDue(one);
      };
      for (const tag of ["v2", "v4"]) {
        await world.publish(tag, [], folders([], ["a"]));
        for (const one of ["second", "first", "second"]) await runDueElsewhere(one);
        expect(await labelledOwner(world)).toBe("second");
        await world.publish(`${tag}-back`, [], folders(["a"], []));
        for (const one of ["first", "second", "first"]) await runDueElsewhere(one);
        expect(await labelledOwner(world)).toBe("first");
      }
      expect([...(await contests(world, "first")), ...(await contests(world, "second"))]).toEqual([]);
    });
  });
}
