import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function applyContract(start: StartCluster): void {
  describe("server-side apply", () => {
    const space = workspace(start);
    const { apply, configMap, deployment, managersOf } = space;

    test("creates a missing object, and reports that", async () => {
      const { object, created, warnings } = await apply(configMap());
      expect(created).toBe(true);
      expect(warnings).toEqual([]);
      expect(object).toMatchObject({
        kind: "ConfigMap",
        metadata: { namespace: space.namespace, name: "a" },
        data: { k: "v" },
      });
      expect(managersOf(object)).toEqual(["alpha Apply"]);
    });

    test("of the same object again changes nothing, not even the resourceVersion", async () => {
      const first = await apply(configMap());
      const second = await apply(configMap());
      expect(second.created).toBe(false);
      expect(second.object).toEqual(first.object);
    });

    test("changes what is sent and removes fields that its manager no longer sends", async () => {
      await apply(configMap("a", { k: "v", gone: "x" }));
      const { object } = await apply(configMap("a", { k: "w" }));
      expect(object["data"]).toEqual({ k: "w" });
    });

    test("merges the lists of a Deployment by their keys", async () => {
      await apply(deployment());
      const sidecar = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "app", namespace: space.namespace },
        spec: { template: { spec: { containers: [{ name: "sidecar", image: "example.test/side:1" }] } } },
      };
      const { object } = await apply(sidecar, "beta");
      expect(object).toMatchObject({
        spec: { template: { spec: { containers: [{ name: "app" }, { name: "sidecar" }] } } },
      });
    });

    test("fills in the defaults of the kind", async () => {
      const { object } = await apply(deployment());
      expect(object).toMatchObject({ spec: { strategy: { type: "RollingUpdate" }, revisionHistoryLimit: 10 } });
    });

    test("raises the generation with the spec and not with the metadata", async () => {
      const first = await apply(deployment());
      const changed = await apply(deployment("example.test/app:2"));
      const labelled = await apply({
        ...deployment("example.test/app:2"),
        metadata: { name: "app", namespace: space.namespace, labels: { a: "b" } },
      });
      const generations = [first, changed, labelled].map(({ object }) => object.metadata.generation);
      expect(generations).toEqual([1, 2, 2]);
    });

    test("of a cluster-scoped kind ignores a given namespace", async () => {
      const own = {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: space.namespace, namespace: "x", labels: { a: "b" } },
      };
      const { object } = await apply(own);
      expect(object.metadata.namespace).toBeUndefined();
      expect(object.metadata.labels).toMatchObject({ a: "b" });
    });

    test("of a kind that the cluster does not serve is NoMatch", async () => {
      const error = await faultOf(apply({ ...configMap(), apiVersion: "example.test/v1", kind: "Widget" }));
      expect(error).toMatchObject({ code: 404, reason: "NoMatch" });
      expect(error.message).toBe('no matches for kind "Widget" in version "example.test/v1"');
    });
  });
}
