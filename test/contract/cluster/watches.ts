import { describe, expect, test } from "vitest";
import { type WatchEvent } from "../../../lib/core/ports/cluster.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { follow } from "./follow.ts";
import { workspace } from "./workspace.ts";

export function watchesContract(start: StartCluster): void {
  describe("watch", () => {
    const space = workspace(start);
    const { apply, create, remove, configMap, configMapRef, configMaps, signal } = space;

    test("tells first what is there, and where that ends", async () => {
      await create(configMap("a", {}, { labels: { app: "x" } }));
      using events = follow(space.cluster, { ...configMaps(), labelSelector: "app=x" });
      expect(await events.next()).toMatchObject({
        type: "ADDED",
        object: { kind: "ConfigMap", metadata: { name: "a" } },
      });
      expect(await events.next()).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
    });

    test("then tells what is created, changed and deleted", async () => {
      using events = follow(space.cluster, { ...configMaps(), fieldSelector: "metadata.name=a" });
      await events.initialEnd();
      await create(configMap());
      expect(await events.next()).toMatchObject({ type: "ADDED", object: { data: { k: "v" } } });
      await apply(configMap("a", { l: "w" }));
      expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { data: { k: "v", l: "w" } } });
      await remove(configMapRef());
      expect(await events.next()).toMatchObject({ type: "DELETED", object: { metadata: { name: "a" } } });
    });

    test("of a selector tells an object that begins to match as added, one that stops as deleted", async () => {
      using events = follow(space.cluster, { ...configMaps(), labelSelector: "app=x" });
      await events.initialEnd();
      await create(configMap());
      await apply(configMap("a", {}, { labels: { app: "x" } }), "beta");
      expect(await events.next()).toMatchObject({ type: "ADDED" });
      await apply(configMap("a", {}), "beta");
      expect(await events.next()).toMatchObject({ type: "DELETED" });
    });

    test("tells nothing of other namespaces", async () => {
      using events = follow(space.cluster, { ...configMaps(), fieldSelector: "metadata.name=a" });
      await events.initialEnd();
      await create({ ...configMap(), metadata: { name: "a", namespace: "default" } });
      await remove({ ...configMapRef(), namespace: "default" });
      await create(configMap());
      expect(await events.next()).toMatchObject({
        type: "ADDED",
        object: { metadata: { namespace: space.namespace } },
      });
    });

    test("ends with the reason that its signal was aborted with", async () => {
      // Every namespace gets a ConfigMap from a controller some moments after it was made.
      const query = { ...configMaps(), fieldSelector: "metadata.name=a" };
      const stop = new AbortController();
      const watching = space.cluster.watch(query, stop.signal)[Symbol.asyncIterator]();
      for (;;) {
        const step: IteratorResult<WatchEvent, undefined> = await watching.next();
        if (step.done === true || step.value.type === "BOOKMARK") break;
      }
      const next = watching.next();
      stop.abort(new Error("enough"));
      await expect(next).rejects.toThrow("enough");
    });

    test("of a kind that is not served is NoMatch", async () => {
      const watching = space.cluster.watch({ group: "example.test", version: "v1", kind: "Widget" }, signal);
      expect(await faultOf(watching[Symbol.asyncIterator]().next())).toMatchObject({ reason: "NoMatch" });
    });
  });
}
