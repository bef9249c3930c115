import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { settle } from "./taking-along.ts";
import type { World } from "./world.ts";

const size = { type: "integer" };
const mode = { type: "string", default: "fast" };

function versionOf(name: string, storage: boolean, properties: JsonObject) {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } } };
  return { name, served: true, storage, schema: { openAPIV3Schema } };
}

/** Widgets whose kind gets a version v2, in which a field has a default. */
function widgetsOf({ namespace }: World) {
  const group = `${namespace}.example.com`;
  const first = widgetDefinition(group);
  const versions = [versionOf("v1", false, { size }), versionOf("v2", true, { size, mode })];
  const second = { ...first, spec: { ...(isJsonObject(first["spec"]) ? first["spec"] : {}), versions } };
  const widget = (version: string, spec: JsonObject) => ({
    apiVersion: `${group}/${version}`,
    kind: "Widget",
    metadata: { name: "w" },
    spec,
  });
  const ref = { group, version: "v2", kind: "Widget", namespace, name: "w" };
  return { first, second, widget, ref };
}

/**
 * A Widget applied as v2, of which another client has written a label as v1: the API server refuses the next apply, since v1 has
 * no place for v2's default.
 */
async function staleWidget(world: World) {
  const { cluster, signal } = world;
  const { first, second, widget, ref } = widgetsOf(world);
  await world.publish("one", [first, widget("v1", { size: 1 })]);
  await world.kustomization("app");
  await settle(world, "app");
  const body = { metadata: { labels: { theirs: "yes" } } };
  await cluster.patch({ ...ref, version: "v1" }, { type: "merge", body }, { manager: "another-client" }, signal);
  await world.publish("two", [second, widget("v2", { size: 2 })]);
  await world.run("app");
  // The first run may have to wait until v2 is served.
  await settle(world, "app");
  const versions = async () =>
    (await cluster.get(ref, signal))?.metadata.managedFields?.map(({ manager, apiVersion }) => [
      manager,
      apiVersion.split("/").at(-1),
    ]);
  return { second, widget, ref, versions };
}

/** Flux's gate MigrateAPIVersion (reference 3.14, step 4). */
export function apiVersionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`API versions of managed fields on ${name}`, () => {
    test("the gate MigrateAPIVersion moves those of all clients to the applied version, so that a failing apply succeeds", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const { second, widget, ref, versions } = await staleWidget(world);
      await world.publish("three", [second, widget("v2", { size: 3 })]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False ReconciliationFailed: Widget\/\S+\/w dry-run failed: .*\.spec\.mode: field not declared in schema\n$/,
      );

      world.gates = { ...world.gates, MigrateAPIVersion: true };
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True ReconciliationSucceeded: Applied revision: three/);
      expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: Widget/${namespace}/w configured`);
      expect(await versions()).toEqual([
        ["kustomize-controller", "v2"],
        ["another-client", "v2"],
      ]);
      const live = await cluster.get(ref, signal);
      expect(live).toMatchObject({ metadata: { labels: { theirs: "yes" } }, spec: { size: 3, mode: "fast" } });
      await world.run("app");
      expect((await cluster.get(ref, signal))?.metadata.resourceVersion).toBe(live?.metadata.resourceVersion);
    });

    test("the gate MigrateAPIVersion does not hide a field that the applied version lacks, and then migrates nothing", async () => {
      const world = await newWorld();
      const { second, widget, versions } = await staleWidget(world);
      const before = await versions();
      expect(before?.at(-1)).toEqual(["another-client", "v1"]);
      world.gates = { ...world.gates, MigrateAPIVersion: true };
      await world.publish("three", [second, widget("v2", { size: 3, colour: "red" })]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False ReconciliationFailed: Widget\/\S+\/w dry-run failed: .*field not declared in schema\n$/,
      );
      expect(await versions()).toEqual(before);
    });

    test("the gate MigrateAPIVersion leaves ignored fields to other managers", async () => {
      const world = await newWorld();
      const { cluster, signal } = world;
      const { second, widget, ref } = await staleWidget(world);
      world.gates = { ...world.gates, MigrateAPIVersion: true };
      await world.kustomization("app", { ignore: [{ paths: ["/spec/size"] }] });
      await world.publish("three", [second, widget("v2", { size: 3, mode: "slow" })]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True ReconciliationSucceeded: Applied revision: three/);
      expect((await cluster.get(ref, signal))?.["spec"]).toEqual({ size: 2, mode: "slow" });
    });

    test("the gate MigrateAPIVersion adds no second entry of ours if the first apply of a version sets its defaults", async () => {
      const world = await newWorld();
      world.gates = { ...world.gates, MigrateAPIVersion: true };
      const { ref, versions } = await staleWidget(world);
      expect(await versions()).toHaveLength(2);
      const { resourceVersion } = (await world.cluster.get(ref, world.signal))?.metadata ?? {};
      await world.run("app");
      expect((await world.cluster.get(ref, world.signal))?.metadata.resourceVersion).toBe(resourceVersion);
    });

    test("the gate MigrateAPIVersion migrates an unchanged object once, and reports it as configured", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const { ref, versions } = await staleWidget(world);
      world.gates = { ...world.gates, MigrateAPIVersion: true };
      await world.run("app");
      expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: Widget/${namespace}/w configured`);
      expect(new Set((await versions())?.map(([, version]) => version))).toEqual(new Set(["v2"]));
      const { resourceVersion } = (await cluster.get(ref, signal))?.metadata ?? {};
      await world.run("app");
      expect((await cluster.get(ref, signal))?.metadata.resourceVersion).toBe(resourceVersion);
    });
  });
}
