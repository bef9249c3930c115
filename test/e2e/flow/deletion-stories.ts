import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { configMap, configMapRef, namespaceNamed, placed, widget } from "./sample-manifests.ts";
import { clusterWide, elsewhere, isGoing, pruneRefused, settle } from "./taking-along.ts";
import type { World } from "./world.ts";

/** What a prune may take along of the Kustomization's own objects, and what it may not. */
export function deletionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`objects that a prune would delete along on ${name}`, () => {
    test("a namespace that leaves the artifact stays while the artifact has objects in it, and nothing is written", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-within`;
      const contents = ["a", "b", "c", "d", "e"].map((each) => placed(within, configMap(each)));
      await world.publish("v1", [namespaceNamed(within), ...contents]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      const before = await world.inventory("app");
      await world.publish("v2", [...contents, placed(world.namespace, configMap("new"))]);
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 750 });

      const named = ["a", "b", "c"].map((each) => `ConfigMap/${within}/${each}`).join(", ");
      const refusal = `${pruneRefused(`Namespace/${within}`, `${named} and 2 more`)}\n`;
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${refusal}`);
      expect((await world.events("app")).at(-1)).toBe(`Warning ReconciliationFailed: ${refusal}`);
      expect(await isGoing(world, within)).toBe(false);
      expect(await world.get("ConfigMap", "new")).toBeUndefined();
      expect(await world.inventory("app")).toEqual(before);

      await world.publish("v3", [namespaceNamed(within), ...contents]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
    });

    test("a definition that leaves the artifact stays while the artifact has objects of it", async () => {
      const world = await newWorld();
      const group = `left.${world.namespace}.example.com`;
      await world.publish("v1", [widgetDefinition(group), widget(group)]);
      await world.kustomization("app");
      await settle(world, "app");
      await world.publish("v2", [widget(group)]);
      await world.run("app");
      const refusal = pruneRefused(`CustomResourceDefinition/widgets.${group}`, `Widget/${world.namespace}/w`);
      expect(await world.ready("app")).toBe(`False ReconciliationFailed: ${refusal}\n`);
      expect(await world.get("Widget", "w", `${group}/v1`)).toBeDefined();

      await world.publish("v3", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      const gone = () => clusterWide(world, "CustomResourceDefinition", `widgets.${group}`);
      await expect.poll(gone).toBeUndefined();
    });

    test("a namespace is deleted with all objects that leave the artifact together with it", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-whole`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("a"))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });

    test("a namespace that is annotated, or under prune: false, leaves the artifact and stays", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-kept`;
      const contents = placed(within, configMap("a"));
      await world.publish("v1", [namespaceNamed(within), contents]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", [contents]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^False/);
      const body = { metadata: { annotations: { [`${kustomizeGroup}/prune`]: "disabled" } } };
      const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: within };
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      const inventory = (await world.inventory("app")).map(({ id, state }) => [id, state]);
      expect(inventory).toEqual([
        [`${within}_a__ConfigMap`, "live"],
        [`_${within}__Namespace`, "retained"],
      ]);
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a namespace stays while it contains an object that an annotation has kept from an earlier prune", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-earlier`;
      const annotations = { [`${kustomizeGroup}/prune`]: "disabled" };
      const data = placed(within, configMap("data", { k: "v" }, { annotations }));
      await world.publish("v1", [namespaceNamed(within), data]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", [namespaceNamed(within)]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      const namespaceId = { id: `_${within}__Namespace`, v: "v1" };
      expect((await world.status("app"))["inventory"]).toEqual({ entries: [namespaceId] });
      await world.publish("v3", []);
      await world.run("app");
      expect(await world.ready("app")).toContain(`ConfigMap/${within}/data (kept when it left the artifact); `);
      expect(await isGoing(world, within)).toBe(false);

      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
    });

    test("a namespace stays while it contains an object that an annotation protects", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-protected`;
      const annotations = { [`${kustomizeGroup}/prune`]: "disabled" };
      const contents = [configMap("data", { k: "v" }, { annotations }), configMap("plain")];
      await world.publish("v1", [namespaceNamed(within), ...contents.map((each) => placed(within, each))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.publish("v2", []);
      await world.run("app");
      const why = `${kustomizeGroup}/prune: disabled on the object in the cluster`;
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: ${pruneRefused(`Namespace/${within}`, `ConfigMap/${within}/data (${why})`)}\n`,
      );
      expect(await isGoing(world, within)).toBe(false);

      const body = { metadata: { annotations: { [`${kustomizeGroup}/prune`]: null } } };
      const ref = configMapRef(within, "data");
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });

    test("a namespace stays while it contains an object that no longer has our labels", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-released`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("data"))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      const body = { metadata: { labels: { [`${kustomizeGroup}/name`]: null } } };
      const ref = configMapRef(within, "data");
      await world.cluster.patch(ref, { type: "merge", body }, { manager: "kubectl" }, world.signal);
      await world.publish("v2", []);
      await world.run("app");
      expect(await world.ready("app")).toContain(`ConfigMap/${within}/data (its owner labels name another owner)`);
      expect(await isGoing(world, within)).toBe(false);
    });

    test("a namespace stays while it contains an object that prune: false has kept", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-retained`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("data"))]);
      await world.kustomization("app", { ...elsewhere, prune: false });
      await settle(world, "app");
      await world.publish("v2", [namespaceNamed(within)]);
      await world.run("app");
      await world.kustomization("app", { ...elsewhere, prune: true });
      await world.publish("v3", []);
      await world.run("app");
      expect(await world.ready("app")).toContain(`ConfigMap/${within}/data (kept when it left the artifact); `);
      expect(await isGoing(world, within)).toBe(false);

      const ref = configMapRef(within, "data");
      await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect(await isGoing(world, within)).toBe(true);
    });

    test("deleting the Kustomization deletes its namespaces with all their objects", async () => {
      const world = await newWorld();
      const within = `${world.namespace}-last`;
      await world.publish("v1", [namespaceNamed(within), placed(within, configMap("a"))]);
      await world.kustomization("app", elsewhere);
      await settle(world, "app");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      const ref = configMapRef(within, "a");
      await expect.poll(() => world.cluster.get(ref, world.signal)).toBeUndefined();
    });
  });
}
