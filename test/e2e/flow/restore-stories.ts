import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
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
  describe(`a state that is older than the cluster on ${name}`, () => {
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
      `Warning InventoryOutdated: the saved inventory is of generation ${saved}, the status of generation ${shown}, which does ` +
      `not have ConfigMap/${namespace}/x any more: not pruned, since it was let go meanwhile. Delete it yourself where nobody needs it`;

    test("what was let go since the backup is not pruned, and that is told once", async () => {
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

    test("nor is it where runs fail in between, or the object is suspended or stalled before anything is applied", async () => {
      const world = await letGoSince();
      world.fault = (call) => {
        if (call === "inventories.load") throw new Error("the table is being restored");
      };
      await world.outlast("app", 120_000);
      world.fault = () => {};
      expect(await world.ready("app")).toMatch(/^False/);
      await world.kustomization("app", { suspend: true });
      await world.run("app");
      await world.kustomization("app", { suspend: false, serviceAccountName: "tenant" });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled" });
      await world.patch("app", { spec: { serviceAccountName: null } }, { manager: "test" });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await world.get("ConfigMap", "x")).toBeDefined();
    });

    test("what was let go since the backup is its next owner's alone: it goes when that drops it", async () => {
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

    test("nor is it where it could not be looked at when that was decided", async () => {
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

    test("nor is it where another claims it that changes its mind before it ever applied it", async () => {
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

    test("what the artifact has again is applied and known again", async () => {
      const world = await letGoSince();
      await world.publish("v3", [configMap("a"), configMap("x", { k: "new" })]);
      await world.run("app");
      expect((await world.get("ConfigMap", "x"))?.["data"]).toEqual({ k: "new" });
      expect((await states(world)).toSorted()).toEqual(["a live", "x live"]);
      await world.publish("v4", [configMap("a")]);
      await world.run("app");
      expect(await world.get("ConfigMap", "x")).toBeUndefined();
    });

    test("the Kustomization that is deleted then leaves it too", async () => {
      const world = await letGoSince();
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.get("ConfigMap", "x")).toBeDefined();
    });

    test("what Flux let go in between stays, and what it has pruned is not talked about", async () => {
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

    test("a generation that the object never had, or a status without an inventory, lets go of nothing", async () => {
      for (const status of [
        { observedGeneration: 99, inventory: { entries: [] } },
        { observedGeneration: 2, inventory: null },
      ]) {
        const world = await newWorld();
        await world.publish("v1", [configMap("a"), configMap("x")]);
        await world.kustomization("app");
        await world.run("app");
        await world.kustomization("app", { interval: "20m" });
        await world.patch("app", { status }, { manager: "somebody", subresource: "status" });
        await world.publish("v2", [configMap("a")]);
        await world.run("app");
        expect(await world.get("ConfigMap", "x")).toBeUndefined();
      }
    });

    test("a run under a new generation notes that, once, also where nothing else is new", async () => {
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
      { what: "stalled", spec: { serviceAccountName: "tenant" }, back: { serviceAccountName: null } },
    ])("what a killed run has applied is pruned also where the object was $what meanwhile", async ({ spec, back }) => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.publish("v2", [configMap("a"), configMap("x")]);
      let isAhead = false;
      world.fault = (call) => {
        isAhead ||= call === "inventories.save done";
        if (isAhead && call === "cluster.apply done") throw new Error("killed");
      };
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
    });
  });
}
