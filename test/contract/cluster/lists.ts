import { describe, expect, test } from "vitest";
import { mapLimit } from "../../../lib/core/concurrency.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function listsContract(start: StartCluster): void {
  describe("lists", () => {
    const space = workspace(start);
    const { apply, create, configMap, configMapRef, configMaps, signal } = space;

    test("contain complete objects with kind and version, sorted by name", async () => {
      for (const name of ["b", "a"]) await create(configMap(name));
      const objects = (await space.cluster.list(configMaps(), signal)).filter(isOurs);
      expect(objects.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
      expect(objects[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { k: "v" } });
    });

    test("with a label selector contain the matching objects", async () => {
      await create(configMap("a", {}, { labels: { app: "x" } }));
      await create(configMap("b", {}, { labels: { app: "y" } }));
      const found = await space.cluster.list({ ...configMaps(), labelSelector: "app=x" }, signal);
      expect(found.map(({ metadata }) => metadata.name)).toEqual(["a"]);
    });

    test("with a field selector contain the matching objects", async () => {
      for (const name of ["a", "b"]) await create(configMap(name));
      const found = await space.cluster.list({ ...configMaps(), fieldSelector: "metadata.name=b" }, signal);
      expect(found.map(({ metadata }) => metadata.name)).toEqual(["b"]);
    });

    test("with an invalid selector are refused", async () => {
      const error = await faultOf(space.cluster.list({ ...configMaps(), labelSelector: "a in" }, signal));
      expect(error).toMatchObject({ code: 400, reason: "BadRequest" });
    });

    test("without a namespace contain the objects of all namespaces", async () => {
      await create(configMap("a", {}, { labels: { contract: space.namespace } }));
      const { group, version, kind } = configMaps();
      const found = await space.cluster.list(
        { group, version, kind, labelSelector: `contract=${space.namespace}` },
        signal,
      );
      expect(found.map(({ metadata }) => metadata.namespace)).toEqual([space.namespace]);
    });

    test("are empty if there are no objects, even if the namespace is missing", async () => {
      expect(await space.cluster.list({ ...configMaps(), labelSelector: "a=none" }, signal)).toEqual([]);
      expect(await space.cluster.list({ ...configMaps(), namespace: "contract-nowhere" }, signal)).toEqual([]);
      expect(await space.cluster.listMetadata({ ...configMaps(), labelSelector: "a=none" }, signal)).toEqual([]);
    });

    test("of a cluster-scoped kind contain its objects", async () => {
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

    test("of more objects than a page are complete", async () => {
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

    test.each([
      ["app=x", ["a", "b"]],
      ["app!=x", ["c", "d"]],
      ["app in (x, y), tier", ["b", "c"]],
      ["app notin (x)", ["c", "d"]],
      ["!app", ["d"]],
      ["tier=, app", ["c"]],
    ])("with the label selector %s contain the matching objects", async (selector, names) => {
      const labelled = { a: { app: "x" }, b: { app: "x", tier: "1" }, c: { app: "y", tier: "" }, d: {} };
      for (const [name, labels] of Object.entries(labelled)) await create(configMap(name, {}, { labels }));
      const found = await space.cluster.list({ ...configMaps(), labelSelector: selector }, signal);
      expect(found.filter(isOurs).map(({ metadata }) => metadata.name)).toEqual(names);
    });

    test("with a field selector that a kind does not support are refused", async () => {
      const error = await faultOf(space.cluster.list({ ...configMaps(), fieldSelector: "data.k=v" }, signal));
      expect(error).toMatchObject({ code: 400, reason: "BadRequest" });
      expect(error.message).toContain('"data.k" is not a known field selector');
    });

    test("of Events can be selected by the involved object", async () => {
      const event = (name: string, about: string) => ({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: space.namespace },
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace: space.namespace, name: about },
        reason: "Contract",
        type: "Normal",
      });
      await create(event("one", "a"));
      await create(event("two", "b"));
      const query = { group: "", version: "v1", kind: "Event", namespace: space.namespace };
      const found = await space.cluster.list({ ...query, fieldSelector: "involvedObject.name=b" }, signal);
      expect(found.map(({ metadata }) => metadata.name)).toEqual(["two"]);
    });

    test("of metadata can be selected too", async () => {
      await create(configMap("a", {}, { labels: { app: "x" } }));
      await create(configMap("b"));
      const byLabel = await space.cluster.listMetadata({ ...configMaps(), labelSelector: "app=x" }, signal);
      const byField = await space.cluster.listMetadata({ ...configMaps(), fieldSelector: "metadata.name=b" }, signal);
      expect([...byLabel, ...byField].map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    });

    const page = async (query: Readonly<Record<string, string>>) => {
      const path = `/api/v1/namespaces/${space.namespace}/configmaps`;
      const answer = await space.api.send({ verb: "list", method: "GET", path, query, repeatable: true }, signal);
      const list: PageOfList = JSON.parse(answer.text);
      return { status: answer.status, list };
    };

    test("in pages show the state of the first page", async () => {
      for (const name of ["a", "b", "c"]) await create(configMap(name, {}, { labels: { paged: "yes" } }));
      const first = await page({ limit: "2", labelSelector: "paged=yes" });
      await create(configMap("bb", {}, { labels: { paged: "yes" } }));
      await space.remove(configMapRef("c"));
      const token = first.list.metadata.continue ?? "";
      const second = await page({ limit: "2", labelSelector: "paged=yes", continue: token });
      const names = [first, second].flatMap(({ list }) => list.items.map(({ metadata }) => metadata.name));
      expect(names).toEqual(["a", "b", "c"]);
      expect(second.list.metadata.continue).toBeUndefined();
      expect(second.list.metadata.resourceVersion).toBe(first.list.metadata.resourceVersion);
    });

    test("report the remaining count only without a selector", async () => {
      for (const name of ["a", "b", "c"]) await create(configMap(name, {}, { labels: { paged: "yes" } }));
      const selected = await page({ limit: "1", labelSelector: "paged=yes" });
      expect(selected.list.metadata.remainingItemCount).toBeUndefined();
      const whole = await page({ limit: "1" });
      expect(whole.list.metadata.remainingItemCount).toBeGreaterThanOrEqual(2);
    });

    test("refuse a continue token that the server did not issue", async () => {
      const { status } = await page({ limit: "1", continue: "nonsense" });
      expect(status).toBe(400);
    });

    test("contain objects in the requested version", async () => {
      const spec = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "app" }, maxReplicas: 3 };
      const metadata = { name: "a", namespace: space.namespace };
      await create({ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata, spec });
      for (const version of ["v1", "v2"]) {
        const query = { group: "autoscaling", version, kind: "HorizontalPodAutoscaler", namespace: space.namespace };
        expect(await space.cluster.list(query, signal)).toMatchObject([{ apiVersion: `autoscaling/${version}` }]);
      }
    });
  });
}

interface PageOfList {
  readonly metadata: {
    readonly continue?: string;
    readonly resourceVersion: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Every namespace of a real cluster gets this ConfigMap from a controller. */
function isOurs({ metadata }: LiveObject): boolean {
  return metadata.name !== "kube-root-ca.crt";
}
