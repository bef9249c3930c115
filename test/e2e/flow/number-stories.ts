import { describe, expect, test } from "vitest";
import { widgetDefinition } from "../../contract/cluster/widget-definition.ts";
import { settle } from "./taking-along.ts";
import type { World } from "./world.ts";

const most = 2n ** 63n - 1n;

/** Numbers that a double cannot hold, from the artifact into the cluster and back. */
export function numberStories(name: string, newWorld: () => Promise<World>): void {
  describe(`numbers on ${name}`, () => {
    test("64-bit integers and floats are applied as written, proven unchanged, and drift of one bit is reverted", async () => {
      const world = await newWorld();
      const group = `${world.namespace}.example.com`;
      const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const spec = {
        most,
        odd: 2n ** 53n + 1n,
        list: [-(2n ** 63n)],
        float: 0.30000000000000004,
        tiny: 1e-7,
        huge: 1e21,
      };
      const widget = (id: string) => ({
        apiVersion: `${group}/v1`,
        kind: "Widget",
        metadata: { name: "w" },
        spec: { ...spec, id },
      });
      await world.publish("v1", [widgetDefinition(group, {}, free), widget("${id}")]);
      await world.kustomization("app", { postBuild: { substitute: { id: "9007199254740995" } } });
      await settle(world, "app");
      const ref = { group, version: "v1", kind: "Widget", namespace: world.namespace, name: "w" };
      const applied = await world.cluster.get(ref, world.signal);
      expect(applied?.["spec"]).toEqual({ ...spec, id: 9007199254740995n });

      await world.run("app");
      expect((await world.cluster.get(ref, world.signal))?.metadata.resourceVersion).toBe(
        applied?.metadata.resourceVersion,
      );

      const { apiVersion, kind, metadata } = widget("");
      const drifted = {
        apiVersion,
        kind,
        metadata: { ...metadata, namespace: world.namespace },
        spec: { odd: 2n ** 53n },
      };
      await world.cluster.apply(drifted, { manager: "another-client", force: true }, world.signal);
      await world.run("app");
      expect((await world.cluster.get(ref, world.signal))?.["spec"]).toEqual(applied?.["spec"]);

      await world.publish("v2", [
        widgetDefinition(group, {}, free),
        { ...widget("${id}"), spec: { ...spec, most: most - 1n } },
      ]);
      await world.run("app");
      expect((await world.cluster.get(ref, world.signal))?.["spec"]).toEqual({ ...spec, most: most - 1n });
    });
  });
}
