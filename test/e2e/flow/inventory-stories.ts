import { describe, expect, test } from "vitest";
import { ownerLabels } from "../../../lib/api/names.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { configMap } from "./sample-manifests.ts";
import { withKept } from "./with-kept.ts";
import type { World } from "./world.ts";

const configMapId = ({ namespace }: World, name: string) => `${namespace}_${name}__ConfigMap`;

/** Another client writes the inventory of a status. */
async function show(world: World, name: string, ids: readonly string[]): Promise<void> {
  const body = { status: { inventory: { entries: ids.map((id) => ({ id, v: "v1" })) } } };
  await world.patch(name, body, { manager: "another-client", subresource: "status" });
}

async function idsOf(world: World, name: string): Promise<readonly string[]> {
  return (await world.inventory(name)).map(({ id }) => id);
}

/** What a Kustomization knows of its objects where its inventory and its status do not agree. */
export function inventoryStories(name: string, newWorld: () => Promise<World>): void {
  describe(`inventory and status that differ on ${name}`, () => {
    /** Its state is from before `b` was applied; the status has both, and `b` is no longer wanted. */
    const restored = async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const backup = await world.inventory("app");
      await world.publish("v2", [configMap("a"), configMap("b")]);
      await world.run("app");
      await world.restoreInventory("app", backup);
      return world;
    };

    test("after a restore from an older backup, objects that only the status lists are pruned", async () => {
      const world = await restored();
      await world.publish("v3", [configMap("a")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect(await idsOf(world, "app")).toEqual([configMapId(world, "a")]);
      expect((await world.status("app"))["inventory"]).toEqual({ entries: [{ id: configMapId(world, "a"), v: "v1" }] });
    });

    test("after a restore, wanted objects are found unchanged and are added to the inventory again", async () => {
      const world = await restored();
      const before = await world.get("ConfigMap", "b");
      await world.run("app");
      expect(await world.get("ConfigMap", "b")).toEqual(before);
      expect(await world.inventory("app")).toMatchObject([{ uid: expect.any(String) }, { uid: before?.metadata.uid }]);
    });

    test("after a restore, objects that could not be pruned stay in the inventory", async () => {
      const world = await restored();
      await world.publish("v3", [configMap("a")]);
      world.fault = (call) => {
        if (call !== "cluster.delete") return;
        throw new ApiError({ code: 403, reason: "Forbidden", message: "not now" });
      };
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False PruneFailed/);
      world.fault = () => {};
      await show(world, "app", []);
      await world.run("app");
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
    });

    test("a Kustomization that is deleted after a restore deletes objects that only its status lists", async () => {
      const world = await restored();
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
    });

    test("a status that names objects of other owners deletes nothing and claims nothing", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      await world.publish("v1", [configMap("theirs")]);
      await world.kustomization("other");
      await world.run("other");
      await world.publish("v2", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const labels = ownerLabels({ name: "app", namespace });
      for (const metadata of [{ name: "foreign" }, { name: "labelled", labels }]) {
        await cluster.create(
          { ...configMap(metadata.name), metadata: { ...metadata, namespace } },
          { manager: "another-client" },
          signal,
        );
      }
      const named = ["theirs", "foreign", "labelled", "missing"].map((each) => configMapId(world, each));
      await show(world, "app", [...named, ...named, "no-id"]);
      // Killed before it can release any object that it might have claimed.
      world.fault = (call) => {
        if (call === "cluster.patch") throw new Error("killed");
      };
      await expect(world.run("app")).rejects.toThrow("killed");
      world.fault = () => {};
      await world.publish("v3", []);
      await world.run("other");
      expect(await world.get("ConfigMap", "theirs")).toBeUndefined();

      await world.publish("v4", [configMap("a")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "foreign")).toBeDefined();
      expect(await world.get("ConfigMap", "labelled")).toBeDefined();
      expect(await idsOf(world, "app")).toEqual([configMapId(world, "a")]);
    });

    test("a status older than the inventory does not make retained objects prunable again", async () => {
      const world = await withKept(newWorld);
      await show(world, "app", [configMapId(world, "a")]);
      await world.kustomization("app", { prune: true });
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect(await world.inventory("app")).toMatchObject([{ state: "retained" }]);
    });

    test("a status without an inventory of ours that cannot be read stops the run", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await show(world, "app", ["no-id"]);
      await world.run("app");
      expect(await world.ready("app")).toBe(
        "False ReconciliationFailed: unable to parse stored object metadata: no-id",
      );
    });
  });
}
