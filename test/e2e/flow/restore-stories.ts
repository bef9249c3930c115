import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { killedAtFirstApply } from "./faulty-port.ts";
import { configMap, configMapRef } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const configMapId = ({ namespace }: World, name: string) => `${namespace}_${name}__ConfigMap`;

/** What Flux leaves in a status that it has made true. */
async function fluxRan(world: World, generation: number, names: readonly string[]): Promise<void> {
  const entries = names.map((name) => ({ id: configMapId(world, name), v: "v1" }));
  const status = { observedGeneration: generation, inventory: { entries } };
  await world.patch("app", { status }, { manager: "kustomize-controller", subresource: "status" });
}

async function warnings(world: World): Promise<readonly string[]> {
  return (await world.events("app")).filter((text) => text.startsWith("Warning"));
}

async function states(world: World): Promise<readonly string[]> {
  return (await world.inventory("app")).map(({ id, state }) => `${id.split("_")[1]} ${state}`);
}

/** A state that is older than the status in the cluster, and one that only looks so. */
export function restoreStories(name: string, newWorld: () => Promise<World>): void {
  describe(`state restored from a backup on ${name}`, () => {
    /** The state is of generation 1, when `x` was live; since then it left the artifact under `prune: false`. */
    const letGoSince = async (): Promise<World> => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), configMap("x")]);
      await world.kustomization("app");
      await world.run("app");
      const backup = await world.inventory("app");
      await world.kustomization("app", { prune: false });
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      await world.kustomization("app", { prune: true });
      await world.restoreInventory("app", backup, 1);
      return world;
    };
    const notPruned = ({ namespace }: World, saved: number, shown: number): string =>
      `Warning InventoryOutdated: the saved inventory is of generation ${saved}, the status of generation ${shown}, which no longer ` +
      `has ConfigMap/${namespace}/x: not pruned, since it was let go meanwhile. Delete it by hand if it is not needed`;

    test("objects released since the backup are not pruned, and one event says so", async () => {
      const world = await letGoSince();
      await world.run("app");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await states(world)).toEqual(["a live", "x retained"]);
      await world.run("app");
      await world.publish("v3", []);
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      expect((await warnings(world)).filter((text) => !text.includes("PruningAll"))).toEqual([notPruned(world, 1, 2)]);
    });

    test("they are not pruned either if runs fail in between, or the Kustomization is suspended or stalled before an apply", async () => {
      const world = await letGoSince();
      world.fault = (call) => {
        if (call === "inventories.load") throw new Error("the table is being restored");
      };
      await world.outlast("app", 120_000);
      world.fault = () => {};
      expect(await world.ready("app")).toMatch(/^False/);
      await world.kustomization("app", { suspend: true });
      await world.run("app");
      await world.kustomization("app", { suspend: false, sourceRef: { kind: "ExternalArtifact", name: "repo" } });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled" });
      await world.patch("app", { spec: { sourceRef: { kind: "OCIRepository" } } }, { manager: "test" });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "x")).toBeDefined();
    });

    test("an object released since the backup belongs to its next owner alone, and is deleted when that drops it", async () => {
      const world = await letGoSince();
      await world.publish("v3", [], { folders: { app: [configMap("a")], next: [configMap("x")] } });
      await world.kustomization("app", { path: "app" });
      await world.kustomization("next", { path: "next" });
      await world.run("app");
      await world.run("next");
      await world.publish("v4", [], { folders: { app: [configMap("a")], next: [] } });
      await world.run("next");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("they are not pruned either if they could not be read for that decision", async () => {
      const world = await letGoSince();
      let isJudging = false;
      world.fault = (call) => {
        if (call === "inventories.savedUnder done") isJudging = true;
        if (!isJudging || call !== "cluster.get") return;
        isJudging = false;
        throw new ApiError({ code: 403, reason: "Forbidden", message: "configmaps is forbidden" });
      };
      await expect(world.run("app")).rejects.toThrow("ConfigMap/");
      world.fault = () => {};
      await world.run("app");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      expect(await states(world)).toEqual(["a live", "x retained"]);
    });

    test("they are not pruned either if another Kustomization claims one and drops it before its apply", async () => {
      const world = await letGoSince();
      await world.publish("v3", [], { folders: { app: [configMap("a")], next: [configMap("x")] } });
      await world.kustomization("next", { path: "next" });
      world.fault = (call) => {
        if (call === "ledger.claim done") throw new Error("killed");
      };
      await expect(world.run("next")).rejects.toThrow("killed");
      world.fault = () => {};
      await world.kustomization("app", { path: "app" });
      await world.run("app");
      await world.publish("v4", [], { folders: { app: [configMap("a")], next: [] } });
      await world.run("next");
      await world.run("app");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      expect(await states(world)).toEqual(["a live", "x retained"]);
    });

    test("objects that the artifact contains again are applied and are in the inventory again", async () => {
      const world = await letGoSince();
      await world.publish("v3", [configMap("a"), configMap("x", { k: "new" })]);
      await world.run("app");
      expect((await world.get("ConfigMap", "x"))?.["data"]).toEqual({ k: "new" });
      expect((await states(world)).toSorted()).toEqual(["a live", "x live"]);
      await world.publish("v4", [configMap("a")]);
      await world.run("app");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("the Kustomization leaves them also when it is deleted then", async () => {
      const world = await letGoSince();
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.get("ConfigMap", "x")).toBeDefined();
    });

    test("objects that Flux released in between stay, and objects that it pruned are not mentioned", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      await world.publish("v1", [configMap("a"), configMap("x"), configMap("y")]);
      await world.kustomization("app");
      await world.run("app");
      await world.kustomization("app", { interval: "20m" });
      await fluxRan(world, 2, ["a"]);
      await cluster.delete(configMapRef(namespace, "y"), { propagation: "Background" }, signal);
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      expect(await world.get("ConfigMap", "x")).toBeDefined();
      expect((await states(world)).toSorted()).toEqual(["a live", "x retained"]);
      expect(await warnings(world)).toEqual([notPruned(world, 1, 2)]);
    });

    test("a generation that the object never had, or a status without an inventory, releases nothing", async () => {
      for (const status of [
        { observedGeneration: 99, inventory: { entries: [] } },
        { observedGeneration: 2, inventory: null },
      ]) {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), configMap("x")]);
        await world.kustomization("app");
        await world.run("app");
        await world.kustomization("app", { interval: "20m" });
        await world.patch("app", { status }, { manager: "another-client", subresource: "status" });
        await world.publish("v2", [configMap("a")]);
        await world.run("app");
        expect(await world.get("ConfigMap", "x")).toBeUndefined();
      }
    });

    test("a run with a new generation saves it once, even if nothing else has changed", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.kustomization("app", { interval: "20m" });
      const saves: string[] = [];
      world.fault = (call) => void (call === "inventories.save" && saves.push(call));
      await world.run("app");
      await world.run("app");
      expect(saves).toHaveLength(1);
    });

    test.each([
      { what: "suspended", spec: { suspend: true }, back: { suspend: false } },
      {
        what: "stalled",
        spec: { serviceAccountName: "not a name" },
        back: { serviceAccountName: "" },
      },
    ])(
      "objects that a killed run has applied are also pruned if the Kustomization was $what meanwhile",
      async ({ spec, back }) => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a")]);
        await world.kustomization("app");
        await world.run("app");
        await world.publish("v2", [configMap("a"), configMap("x")]);
        world.fault = killedAtFirstApply();
        await expect(world.run("app")).rejects.toThrow("killed");
        world.fault = () => {};
        expect(await world.get("ConfigMap", "x")).toBeDefined();
        // As a run that was not killed would have said it.
        const ready = {
          type: "Ready",
          status: "True",
          reason: "ReconciliationSucceeded",
          message: "Applied revision: v1",
        };
        const conditions = [{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" }];
        await world.patch("app", { status: { conditions } }, { manager: "test", subresource: "status" });
        await world.patch("app", { spec }, { manager: "test" });
        await world.run("app");
        expect(await world.status("app")).toMatchObject({ observedGeneration: 2 });
        await world.patch("app", { spec: back }, { manager: "test" });
        await world.publish("v3", [configMap("a")]);
        await world.run("app");
        expect(await world.ready("app")).toMatch(/^True/);
        expect(await world.get("ConfigMap", "x")).toBeUndefined();
        expect(await states(world)).toEqual(["a live"]);
      },
    );
  });
}
