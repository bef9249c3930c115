import { describe, expect, test } from "vitest";
import { killedAtFirstApply } from "./faulty-port.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** A table that is lost and made anew, empty: what is left is what the cluster itself says. */
export function lostStateStories(name: string, newWorld: () => Promise<World>): void {
  describe(`lost state on ${name}`, () => {
    const live = async (world: World, ...names: readonly string[]): Promise<readonly string[]> => {
      const found = await Promise.all(names.map((one) => world.get("ConfigMap", one)));
      return names.filter((_, index) => found[index] !== undefined);
    };
    const folders = (app: readonly string[], next: readonly string[]) => ({
      folders: { app: app.map((one) => configMap(one)), next: next.map((one) => configMap(one)) },
    });

    test("waits for the source's own run, then writes no object, and the inventory is the same as before", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.kustomization("app");
      await world.run("app");
      const before = await world.get("ConfigMap", "a");
      const { inventory } = await world.status("app");
      world.loseState();
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False ArtifactFailed: Source is not ready, artifact not found/);
      await world.publish("v1", [configMap("a"), configMap("b")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "a")).toEqual(before);
      expect((await world.status("app"))["inventory"]).toEqual(inventory);
      expect((await world.inventory("app")).map(({ state }) => state)).toEqual(["live", "live"]);
    });

    test("objects that the next revision drops are pruned by the status, and nothing else", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), configMap("x")]);
      await world.kustomization("app");
      await world.run("app");
      await world.cluster.create(
        configMap("stranger", {}, { namespace: world.namespace }),
        { manager: "test" },
        world.signal,
      );
      world.loseState();
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      expect(await live(world, "a", "x", "stranger")).toEqual(["a", "stranger"]);
    });

    test("objects that were released before stay", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), configMap("x")]);
      await world.kustomization("app", { prune: false });
      await world.run("app");
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      world.loseState();
      await world.kustomization("app", { prune: true });
      await world.run("app");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await live(world, "a", "x")).toEqual(["x"]);
    });

    test("objects that a killed run applied and no status lists stay, and are pruned once a later revision had them", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", [configMap("a"), configMap("x")]);
      world.fault = killedAtFirstApply();
      await expect(world.run("app")).rejects.toThrow("killed");
      world.fault = () => {};
      world.loseState();
      await world.publish("v3", [configMap("a")]);
      await world.run("app");
      expect(await live(world, "a", "x")).toEqual(["a", "x"]);
      for (const [revision, names] of [
        ["v4", ["a", "x"]],
        ["v5", ["a"]],
      ] as const) {
        await world.publish(
          revision,
          names.map((one) => configMap(one)),
        );
        await world.run("app");
      }
      expect(await live(world, "a", "x")).toEqual(["a"]);
    });

    test.each([
      ["its new owner has applied it", ["next", "app"]],
      ["its former owner runs first", ["app", "next"]],
    ])("an object that moves to another Kustomization is not deleted: %s", async (_, order) => {
      const world = await newWorld();
      await world.publish("v1", [], folders(["a", "x"], ["b"]));
      for (const owner of ["app", "next"]) {
        await world.kustomization(owner, { path: owner });
        await world.run(owner);
      }
      const uid = (await world.get("ConfigMap", "x"))?.metadata.uid;
      world.loseState();
      await world.publish("v2", [], folders(["a"], ["b", "x"]));
      for (const owner of order) await world.run(owner);
      expect((await world.get("ConfigMap", "x"))?.metadata.uid).toBe(uid);
      await world.publish("v3", [], folders(["a"], ["b"]));
      for (const owner of order) await world.run(owner);
      expect(await live(world, "a", "b", "x")).toEqual(["a", "b"]);
    });
  });
}
