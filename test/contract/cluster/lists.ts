import { describe, expect, test } from "vitest";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { mapLimit } from "../../../lib/core/map-limit.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function listsContract(start: StartCluster): void {
  describe("lists", () => {
    const space = workspace(start);
    const { apply, create, configMap, configMaps, signal } = space;

    test("hold whole objects with kind and version, by name", async () => {
      for (const name of ["b", "a"]) await create(configMap(name));
      const objects = (await space.cluster.list(configMaps(), signal)).filter(isOurs);
      expect(objects.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
      expect(objects[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { k: "v" } });
    });

    test("of labels hold what matches", async () => {
      await create(configMap("a", {}, { labels: { app: "x" } }));
      await create(configMap("b", {}, { labels: { app: "y" } }));
      const found = await space.cluster.list({ ...configMaps(), labelSelector: "app=x" }, signal);
      expect(found.map(({ metadata }) => metadata.name)).toEqual(["a"]);
    });

    test("of fields hold what matches", async () => {
      for (const name of ["a", "b"]) await create(configMap(name));
      const found = await space.cluster.list({ ...configMaps(), fieldSelector: "metadata.name=b" }, signal);
      expect(found.map(({ metadata }) => metadata.name)).toEqual(["b"]);
    });

    test("of a selector that does not parse are refused", async () => {
      const error = await faultOf(space.cluster.list({ ...configMaps(), labelSelector: "a in" }, signal));
      expect(error).toMatchObject({ code: 400, reason: "BadRequest" });
    });

    test("without a namespace hold those of all namespaces", async () => {
      await create(configMap("a", {}, { labels: { contract: space.namespace } }));
      const { group, version, kind } = configMaps();
      const found = await space.cluster.list(
        { group, version, kind, labelSelector: `contract=${space.namespace}` },
        signal,
      );
      expect(found.map(({ metadata }) => metadata.namespace)).toEqual([space.namespace]);
    });

    test("are empty where nothing is there, be it the namespace", async () => {
      expect(await space.cluster.list({ ...configMaps(), labelSelector: "a=none" }, signal)).toEqual([]);
      expect(await space.cluster.list({ ...configMaps(), namespace: "contract-nowhere" }, signal)).toEqual([]);
      expect(await space.cluster.listMetadata({ ...configMaps(), labelSelector: "a=none" }, signal)).toEqual([]);
    });

    test("of a cluster-scoped kind hold its objects", async () => {
      const query = { group: "", version: "v1", kind: "Namespace", fieldSelector: `metadata.name=${space.namespace}` };
      expect(await space.cluster.list(query, signal)).toMatchObject([
        { kind: "Namespace", metadata: { name: space.namespace } },
      ]);
    });

    test("of a kind that is not served are NoMatch", async () => {
      const error = await faultOf(space.cluster.list({ group: "example.test", version: "v1", kind: "Widget" }, signal));
      expect(error.reason).toBe("NoMatch");
    });

    test("of metadata name the object's own kind and leave out its content", async () => {
      const { object } = await apply(configMap("a", { k: "v" }, { labels: { app: "x" } }));
      const found = await space.cluster.listMetadata({ ...configMaps(), labelSelector: "app=x" }, signal);
      expect(found).toEqual([{ apiVersion: "v1", kind: "ConfigMap", metadata: object.metadata }]);
    });

    test("of more objects than a page holds are whole", async () => {
      const names = Array.from({ length: 520 }, (_, index) => `page-${String(index).padStart(4, "0")}`);
      await mapLimit(names, 16, (name) => create(configMap(name, {}, { labels: { paged: "yes" } })), signal);
      const query = { ...configMaps(), labelSelector: "paged=yes" };
      const [whole, partial] = await Promise.all([
        space.cluster.list(query, signal),
        space.cluster.listMetadata(query, signal),
      ]);
      expect(whole.map(({ metadata }) => metadata.name)).toEqual(names);
      expect(partial.map(({ metadata }) => metadata.name)).toEqual(names);
    });
  });
}

/** Every namespace of a real cluster gets this ConfigMap from a controller. */
function isOurs({ metadata }: LiveObject): boolean {
  return metadata.name !== "kube-root-ca.crt";
}
