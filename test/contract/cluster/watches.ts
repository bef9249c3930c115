import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { refOf } from "../../../lib/core/manifest.ts";
import { type WatchEvent } from "../../../lib/core/ports/cluster.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { follow } from "./follow.ts";
import { workspace } from "./workspace.ts";

export function watchesContract(start: StartCluster): void {
  describe("watch", () => {
    const space = workspace(start);
    const { apply, create, remove, configMap, deployment, configMapRef, configMaps, signal } = space;

    test("first reports the existing objects, and where they end", async () => {
      await create(configMap("a", {}, { labels: { app: "x" } }));
      using events = follow(space.cluster, { ...configMaps(), labelSelector: "app=x" });
      expect(await events.next()).toMatchObject({
        type: "ADDED",
        object: { kind: "ConfigMap", metadata: { name: "a" } },
      });
      expect(await events.next()).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
    });

    test("then reports created, changed and deleted objects", async () => {
      using events = follow(space.cluster, { ...configMaps(), fieldSelector: "metadata.name=a" });
      await events.initialEnd();
      await create(configMap());
      expect(await events.next()).toMatchObject({ type: "ADDED", object: { data: { k: "v" } } });
      await apply(configMap("a", { l: "w" }));
      expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { data: { k: "v", l: "w" } } });
      await remove(configMapRef());
      expect(await events.next()).toMatchObject({ type: "DELETED", object: { metadata: { name: "a" } } });
    });

    test("of metadata reports no content", async () => {
      await create(configMap("a", { k: "v" }));
      const query = { ...configMaps(), fieldSelector: "metadata.name=a", isMetadataOnly: true };
      using events = follow(space.cluster, query);
      const created = await events.next();
      expect(created).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
      expect(created).not.toHaveProperty("object.data");
      await events.initialEnd();
      await apply(configMap("a", { l: "w" }));
      const changed = await events.next();
      expect(changed).toMatchObject({ type: "MODIFIED", object: { metadata: { name: "a" } } });
      expect(changed).not.toHaveProperty("object.data");
      await remove(configMapRef());
      const removed = await events.next();
      expect(removed).toMatchObject({ type: "DELETED", object: { metadata: { name: "a" } } });
      expect(removed).not.toHaveProperty("object.data");
    });

    test("with a selector reports an object that starts to match as added, and one that stops as deleted", async () => {
      using events = follow(space.cluster, { ...configMaps(), labelSelector: "app=x" });
      await events.initialEnd();
      await create(configMap());
      await apply(configMap("a", {}, { labels: { app: "x" } }), "beta");
      expect(await events.next()).toMatchObject({ type: "ADDED" });
      await apply(configMap("a", {}), "beta");
      expect(await events.next()).toMatchObject({ type: "DELETED" });
    });

    test("reports nothing of other namespaces", async () => {
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

    test("ends with the reason of its aborted signal", async () => {
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

    const ours = () => ({ ...configMaps(), fieldSelector: "metadata.name=a" });
    const merge = (body: JsonObject) =>
      space.cluster.patch(configMapRef(), { type: "merge", body }, { manager: "beta" }, signal);

    test("reports the end of the existing objects even if there are none", async () => {
      using events = follow(space.cluster, ours());
      expect(await events.next()).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
    });

    test("reports nothing for a write that changes nothing", async () => {
      await apply(configMap());
      using events = follow(space.cluster, ours());
      await events.initialEnd();
      await apply(configMap());
      await merge({ data: { k: "v" } });
      await merge({ data: { k: "w" } });
      expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { data: { k: "w" } } });
    });

    test("reports a deletion that waits for a finalizer as a change, and its end with the last state", async () => {
      await create(configMap("a", { k: "v" }, { finalizers: ["example.test/held"] }));
      using events = follow(space.cluster, ours());
      await events.initialEnd();
      await remove(configMapRef());
      const waits = await events.next();
      expect(waits).toMatchObject({
        type: "MODIFIED",
        object: { metadata: { deletionTimestamp: expect.any(String) } },
      });
      await merge({ metadata: { finalizers: null } });
      expect(await events.next()).toMatchObject({ type: "DELETED", object: { data: { k: "v" } } });
    });

    test("reports changes in the order of their resourceVersions, including a deletion", async () => {
      using events = follow(space.cluster, ours());
      await events.initialEnd();
      const versions = [(await create(configMap())).metadata.resourceVersion];
      for (const k of ["1", "2"]) versions.push((await merge({ data: { k } })).metadata.resourceVersion);
      await remove(configMapRef());
      const told: string[] = [];
      for (let count = 0; count < 4; count++) {
        const event = await events.next();
        if (event.type !== "BOOKMARK") told.push(event.object.metadata.resourceVersion ?? "");
      }
      expect(told.slice(0, 3)).toEqual(versions);
      expect(Number(told[3])).toBeGreaterThan(Number(told[2]));
    });

    test("reports changes of only an owner or a status", async () => {
      await apply(deployment());
      const { group, version, kind } = refOf(deployment());
      const query = { group, version, kind, namespace: space.namespace };
      await expect.poll(() => space.cluster.list(query, signal)).toMatchObject([{ status: { observedGeneration: 1 } }]);
      using events = follow(space.cluster, query);
      await events.initialEnd();
      const body = { status: { conditions: [{ type: "Contract", status: "True" }] } };
      const options = { manager: "beta", subresource: "status" };
      await space.cluster.patch(refOf(deployment()), { type: "merge", body }, options, signal);
      expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { metadata: { generation: 1 } } });
    });

    test("returns objects in the requested version", async () => {
      const query = { group: "autoscaling", kind: "HorizontalPodAutoscaler", namespace: space.namespace };
      using events = follow(space.cluster, { ...query, version: "v1" });
      await events.initialEnd();
      await create({
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "a", namespace: space.namespace },
        spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "app" }, maxReplicas: 3 },
      });
      expect(await events.next()).toMatchObject({ type: "ADDED", object: { apiVersion: "autoscaling/v1" } });
    });

    test("that continues where another one stopped misses nothing", async () => {
      const { metadata } = await create(configMap());
      await merge({ data: { k: "1" } });
      await remove(configMapRef());
      const path = `/api/v1/namespaces/${space.namespace}/configmaps`;
      const query = { watch: "1", ...selectsOurs, resourceVersion: metadata.resourceVersion, timeoutSeconds: "1" };
      const told = async (): Promise<readonly unknown[]> => {
        const { text } = await space.api.expect(
          { verb: "watch", method: "GET", path, query, repeatable: true },
          signal,
        );
        return text.split("\n").flatMap((line) => (line === "" ? [] : [typeOf(line)]));
      };
      // A server that is busy may not have come to everything within the second: the same place is asked again.
      await expect.poll(told).toEqual(["MODIFIED", "DELETED"]);
    });

    test("from an invalid resourceVersion is refused", async () => {
      const path = `/api/v1/namespaces/${space.namespace}/configmaps`;
      const query = { watch: "1", resourceVersion: "later", timeoutSeconds: "1" };
      const request = { verb: "watch", method: "GET", path, query, repeatable: true } as const;
      expect((await faultOf(space.api.expect(request, signal))).message).toContain(
        'resourceVersion: Invalid value: "later"',
      );
    });

    test("can be opened many times, each complete", async () => {
      const watchers = Array.from({ length: 8 }, () => follow(space.cluster, ours()));
      try {
        for (const events of watchers) await events.initialEnd();
        await create(configMap());
        for (const events of watchers) expect(await events.next()).toMatchObject({ type: "ADDED" });
      } finally {
        for (const events of watchers) events[Symbol.dispose]();
      }
    });
  });
}

const selectsOurs = { fieldSelector: "metadata.name=a" } as const;

function typeOf(line: string): unknown {
  const event: unknown = JSON.parse(line);
  return isJsonObject(event) ? event["type"] : undefined;
}
