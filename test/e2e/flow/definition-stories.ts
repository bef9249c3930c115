import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { configMap, configMapRef, service } from "./sample-manifests.ts";
import { settle } from "./taking-along.ts";
import type { World } from "./world.ts";

/** Revisions that bring or lose the definitions and namespaces of their own objects. */
export function definitionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`definitions and namespaces of a revision on ${name}`, () => {
    test("one artifact may contain a definition, a namespace and objects of both (83)", async () => {
      const world = await newWorld();
      const group = `${world.namespace}.example.com`;
      const other = `${world.namespace}-other`;
      await world.publish("v1", [
        { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w", namespace: other }, spec: { size: 1 } },
        { ...configMap("a"), metadata: { name: "a", namespace: other } },
        { apiVersion: "v1", kind: "Namespace", metadata: { name: other } },
        widgetDefinition(group),
      ]);
      await world.kustomization("app", { targetNamespace: undefined });
      await settle(world, "app");
      const widget = { group, version: "v1", kind: "Widget", namespace: other, name: "w" };
      expect(await world.cluster.get(widget, world.signal)).toMatchObject({ spec: { size: 1 } });
      await world.remove("app");
      await world.run("app");
      expect(await world.cluster.get(configMapRef(other, "a"), world.signal)).toBeUndefined();
    });

    test("objects wait up to a minute until the API server serves the kind of a definition in their revision", async () => {
      const world = await newWorld();
      const group = `late-${world.namespace}.example.com`;
      const message = `no matches for kind "Widget" in version "${group}/v1": 404 page not found`;
      const unserved = new ApiError({ code: 404, reason: "NoMatch", message });
      let isServed = false;
      world.target = {
        ...world.cluster,
        apply: async (manifest, options, signal) => {
          if (manifest.kind === "Widget" && !isServed) throw unserved;
          return world.cluster.apply(manifest, options, signal);
        },
      };
      await world.publish("v1", [
        widgetDefinition(group),
        { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" }, spec: { size: 1 } },
      ]);
      await world.kustomization("app");
      // For the second run the definition is unchanged.
      for (const nth of [1, 2]) {
        expect(await world.run("app"), `run ${nth}`).toMatchObject({ outcome: "waiting" });
        expect(await world.ready("app")).toBe("Unknown Progressing: Reconciliation in progress");
      }
      world.clock.advance(60_000);
      await world.run("app");
      expect(await world.ready("app")).toBe(
        `False ReconciliationFailed: Widget/${world.namespace}/w dry-run failed: ${message}\n`,
      );
      isServed = true;
      await settle(world, "app");
      expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: Widget/${world.namespace}/w created`);
    });

    test("an object whose definition was deleted is reported like one of an unknown kind, and is pruned", async () => {
      const world = await newWorld();
      const group = `gone-${world.namespace}.example.com`;
      const definition = widgetDefinition(group);
      const definitionRef = { group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" };
      await world.cluster.apply(definition, { manager: "another-client", force: true }, world.signal);
      const widget = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" }, spec: { size: 1 } };
      await world.publish("v1", [configMap("a"), widget]);
      await world.kustomization("app");
      await settle(world, "app");
      const ref = { ...definitionRef, namespace: "", name: definition.metadata.name };
      await world.cluster.delete(ref, { propagation: "Background" }, world.signal);
      await expect.poll(() => world.cluster.get(ref, world.signal)).toBeUndefined();
      const refusal = `Widget/${world.namespace}/w dry-run failed: no matches for kind "Widget" in version "${group}/v1"`;
      await expect
        .poll(async () => {
          await world.run("app");
          return world.ready("app");
        })
        .toBe(`False ReconciliationFailed: ${refusal}\n`);
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect((await world.events("app")).at(-2)).toBe(`Normal Progressing: Widget/${world.namespace}/w deleted`);
    });

    test("objects that wait for a definition or namespace of their revision are checked before anything is written", async () => {
      const world = await newWorld();
      const group = `bad-${world.namespace}.example.com`;
      const other = `${world.namespace}-never`;
      const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: other } };
      const within = (manifest: Manifest) => ({ ...manifest, metadata: { ...manifest.metadata, namespace: other } });
      await world.publish("v1", [
        namespace,
        widgetDefinition(group),
        within({ apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" }, spec: { size: "large" } }),
        within(service(800_000)),
      ]);
      await world.kustomization("app", { targetNamespace: undefined });
      await world.run("app");
      const ready = await world.ready("app");
      expect(ready).toContain(`Widget/${other}/w dry-run failed (Invalid): spec.size: must be of type integer\n`);
      expect(ready).toContain(
        `Service/${other}/s dry-run failed (Invalid): Service "s" is invalid: [spec.ports[0].port: `,
      );
      expect(
        await world.cluster.get(
          { group: "", version: "v1", kind: "Namespace", namespace: "", name: other },
          world.signal,
        ),
      ).toBeUndefined();
      expect(await world.cluster.resource({ group, kind: "Widget" }, world.signal)).toBeUndefined();
    });
  });
}
