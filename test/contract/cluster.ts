import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import type { LiveObject, Manifest } from "../../lib/core/manifest.ts";
import { refOf } from "../../lib/core/manifest.ts";
import { mapLimit } from "../../lib/core/map-limit.ts";
import type { VersionedRef } from "../../lib/core/object-ref.ts";
import { ApiError, type Cluster, type WatchEvent } from "../../lib/core/ports/cluster.ts";

/** A cluster to test, and how to hand it back. */
export interface ClusterUnderTest {
  readonly cluster: Cluster;
  close(): Promise<void>;
}

/** What every adapter of the cluster port, on every API server, has to do. Leaves nothing behind but namespaces that go. */
export function clusterContract(name: string, start: () => Promise<ClusterUnderTest>): void {
  describe(`the cluster port by ${name}`, () => {
    const { signal } = new AbortController();
    let under: ClusterUnderTest;
    let cluster: Cluster;
    let namespace: string;

    beforeAll(async () => {
      under = await start();
      cluster = under.cluster;
    });
    afterAll(async () => {
      await under.close();
    });
    beforeEach(async () => {
      namespace = `contract-${randomUUID().slice(0, 8)}`;
      await create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    });
    afterEach(async () => {
      await remove({ group: "", version: "v1", kind: "Namespace", namespace: "", name: namespace });
    });

    const configMap = (name = "a", data: Record<string, string> = { k: "v" }, metadata = {}): Manifest => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, ...metadata },
      data,
    });
    const deployment = (image = "example.test/app:1", spec = {}): Manifest => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "app", namespace },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "app" } },
        template: {
          metadata: { labels: { app: "app" } },
          spec: { containers: [{ name: "app", image }] },
        },
        ...spec,
      },
    });
    const configMapRef = (name = "a"): VersionedRef => ({
      group: "",
      version: "v1",
      kind: "ConfigMap",
      namespace,
      name,
    });
    const configMaps = () => ({ group: "", version: "v1", kind: "ConfigMap", namespace });
    const apply = (manifest: Manifest, manager = "alpha", options = {}) =>
      cluster.apply(manifest, { manager, force: false, ...options }, signal);
    const create = (manifest: Manifest, options = {}) =>
      cluster.create(manifest, { manager: "alpha", ...options }, signal);
    const get = (ref: VersionedRef) => cluster.get(ref, signal);
    const remove = (ref: VersionedRef, options = {}) =>
      cluster.delete(ref, { propagation: "Background", ...options }, signal);
    const managersOf = (object: LiveObject | undefined) =>
      (object?.metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`).toSorted();

    describe("server-side apply", () => {
      test("creates an object that is not there, and says so", async () => {
        const { object, created, warnings } = await apply(configMap());
        expect(created).toBe(true);
        expect(warnings).toEqual([]);
        expect(object).toMatchObject({ kind: "ConfigMap", metadata: { namespace, name: "a" }, data: { k: "v" } });
        expect(managersOf(object)).toEqual(["alpha Apply"]);
      });

      test("of the same again changes nothing, not even the resourceVersion", async () => {
        const first = await apply(configMap());
        const second = await apply(configMap());
        expect(second.created).toBe(false);
        expect(second.object).toEqual(first.object);
      });

      test("changes what is sent and removes what its manager no longer sends", async () => {
        await apply(configMap("a", { k: "v", gone: "x" }));
        const { object } = await apply(configMap("a", { k: "w" }));
        expect(object["data"]).toEqual({ k: "w" });
      });

      test("leaves what another manager has set", async () => {
        await apply(configMap("a", { k: "v" }));
        const { object } = await apply(configMap("a", { l: "w" }), "beta");
        expect(object["data"]).toEqual({ k: "v", l: "w" });
      });

      test("of an equal value makes both managers owners, so that one may give it up", async () => {
        await apply(configMap());
        await apply(configMap(), "beta");
        const { object } = await apply(configMap("a", {}));
        expect(object["data"]).toEqual({ k: "v" });
        expect(managersOf(object)).toContain("beta Apply");
      });

      test("of another manager's field is a conflict that names manager and field", async () => {
        await apply(configMap());
        const error = await faultOf(apply(configMap("a", { k: "w" }), "beta"));
        expect(error).toMatchObject({ code: 409, reason: "Conflict" });
        expect(error.message).toBe('Apply failed with 1 conflict: conflict with "alpha": .data.k');
        expect(error.causes).toEqual([
          { reason: "FieldManagerConflict", message: 'conflict with "alpha"', field: ".data.k" },
        ]);
        expect((await get(configMapRef()))?.["data"]).toEqual({ k: "v" });
      });

      test("with force takes the field over", async () => {
        await apply(configMap());
        const { object } = await apply(configMap("a", { k: "w" }), "beta", { force: true });
        expect(object["data"]).toEqual({ k: "w" });
        expect(managersOf(object)).toEqual(["beta Apply"]);
      });

      test("against an updater's field is a conflict too", async () => {
        await create(configMap(), { manager: "editor" });
        const error = await faultOf(apply(configMap("a", { k: "w" })));
        expect(error.message).toBe('Apply failed with 1 conflict: conflict with "editor" using v1: .data.k');
      });

      test("merges the lists of a Deployment by their keys", async () => {
        await apply(deployment());
        const sidecar = {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "app", namespace },
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
          metadata: { name: "app", namespace, labels: { a: "b" } },
        });
        const generations = [first, changed, labelled].map(({ object }) => object.metadata.generation);
        expect(generations).toEqual([1, 2, 2]);
      });

      test("as a dry run of a new object stores nothing", async () => {
        const { created, object } = await apply(configMap(), "alpha", { dryRun: true });
        expect(created).toBe(true);
        expect(object["data"]).toEqual({ k: "v" });
        expect(await get(configMapRef())).toBeUndefined();
      });

      test("as a dry run of a change tells the outcome and stores nothing", async () => {
        const before = await apply(configMap());
        const dry = await apply(configMap("a", { k: "w" }), "alpha", { dryRun: true });
        expect(dry.object["data"]).toEqual({ k: "w" });
        expect(dry.object.metadata.resourceVersion).toBe(before.object.metadata.resourceVersion);
        expect(await get(configMapRef())).toEqual(before.object);
      });

      test("as a dry run of no change answers what is stored", async () => {
        const before = await apply(deployment());
        const dry = await apply(deployment(), "alpha", { dryRun: true });
        expect(dry.object).toMatchObject({ metadata: { generation: 1 }, spec: before.object["spec"] });
      });

      test("as a dry run reports a conflict", async () => {
        await apply(configMap());
        const error = await faultOf(apply(configMap("a", { k: "w" }), "beta", { dryRun: true }));
        expect(error).toMatchObject({ code: 409, reason: "Conflict" });
      });

      test("of a field that the kind does not have is refused without a reason", async () => {
        const error = await faultOf(apply(deployment("example.test/app:1", { replicaCount: 1 })));
        expect(error).toMatchObject({ code: 500, reason: "" });
        expect(error.message).toContain(".spec.replicaCount: field not declared in schema");
      });

      test("of a wrong value is invalid, naming the field", async () => {
        const error = await faultOf(apply(deployment("example.test/app:1", { replicas: -1 })));
        expect(error).toMatchObject({ code: 422, reason: "Invalid" });
        expect(error.causes).toContainEqual(
          expect.objectContaining({ reason: "FieldValueInvalid", field: "spec.replicas" }),
        );
      });

      test("of another selector is refused, since it is immutable", async () => {
        await apply(deployment());
        const changed = deployment("example.test/app:1", {
          selector: { matchLabels: { app: "b" } },
          template: {
            metadata: { labels: { app: "b" } },
            spec: { containers: [{ name: "app", image: "example.test/app:1" }] },
          },
        });
        const error = await faultOf(apply(changed));
        expect(error).toMatchObject({ code: 422, reason: "Invalid" });
        expect(error.message).toContain("field is immutable");
      });

      test("into a namespace that is not there is NotFound, naming the namespace", async () => {
        const error = await faultOf(apply({ ...configMap(), metadata: { name: "a", namespace: "contract-nowhere" } }));
        expect(error).toMatchObject({ code: 404, reason: "NotFound" });
        expect(error.message).toBe('namespaces "contract-nowhere" not found');
      });

      test("of a namespaced kind without a namespace is refused", async () => {
        const error = await faultOf(apply({ ...configMap(), metadata: { name: "a" } }));
        expect(error).toMatchObject({ code: 400, reason: "BadRequest" });
        expect(error.message).toContain("ConfigMap/a has no namespace");
      });

      test("of a cluster-scoped kind leaves out a namespace that it was given", async () => {
        const own = {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name: namespace, namespace: "x", labels: { a: "b" } },
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

      test("with the resourceVersion of an older state is a conflict, even with force", async () => {
        const { object } = await apply(configMap());
        await apply(configMap("a", { k: "w" }));
        const { resourceVersion = "" } = object.metadata;
        const error = await faultOf(apply(configMap("a", { k: "x" }, { resourceVersion }), "alpha", { force: true }));
        expect(error).toMatchObject({ code: 409, reason: "Conflict" });
      });

      test("with the uid of another object is refused and changes nothing", async () => {
        await apply(configMap());
        const error = await faultOf(apply(configMap("a", { k: "x" }, { uid: randomUUID() })));
        expect([409, 422]).toContain(error.code);
        expect((await get(configMapRef()))?.["data"]).toEqual({ k: "v" });
      });

      test("without a name for the manager is refused", async () => {
        const error = await faultOf(apply(configMap(), ""));
        expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      });

      test("to a subresource leaves the rest of the object", async () => {
        await apply(deployment());
        const conditions = [{ type: "Progressing", status: "True", reason: "Contract", message: "m" }];
        const { apiVersion, kind, metadata } = deployment();
        const { object } = await apply({ apiVersion, kind, metadata, status: { conditions } }, "beta", {
          subresource: "status",
          force: true,
        });
        expect(object).toMatchObject({ spec: { replicas: 0 }, metadata: { generation: 1 } });
        const entry = object.metadata.managedFields?.find(({ manager }) => manager === "beta");
        expect(entry).toMatchObject({ operation: "Apply", subresource: "status" });
      });
    });

    describe("create", () => {
      test("answers the object as it is stored", async () => {
        const created = await create(configMap());
        expect(await get(configMapRef())).toEqual(created);
        expect(managersOf(created)).toEqual(["alpha Update"]);
      });

      test("of an object that is there is AlreadyExists", async () => {
        await create(configMap());
        const error = await faultOf(create(configMap()));
        expect(error).toMatchObject({ code: 409, reason: "AlreadyExists" });
        expect(error.message).toBe('configmaps "a" already exists');
      });

      test("as a dry run stores nothing", async () => {
        const dry = await create(configMap(), { dryRun: true });
        expect(dry["data"]).toEqual({ k: "v" });
        expect(await get(configMapRef())).toBeUndefined();
      });

      test("stores an Event about another object", async () => {
        const event = await create({
          apiVersion: "v1",
          kind: "Event",
          metadata: { name: "a.1", namespace },
          involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace, name: "a" },
          type: "Normal",
          reason: "Progressing",
          message: "ConfigMap/a created",
          firstTimestamp: "2026-11-21T12:00:00Z",
          lastTimestamp: "2026-11-21T12:00:00Z",
          count: 1,
        });
        expect(event).toMatchObject({ reason: "Progressing", count: 1 });
      });

      test("into a namespace that is not there is NotFound", async () => {
        const error = await faultOf(create({ ...configMap(), metadata: { name: "a", namespace: "contract-nowhere" } }));
        expect(error).toMatchObject({ code: 404, reason: "NotFound" });
      });
    });

    describe("patch", () => {
      const merge = (body: Record<string, never> | object, options = {}) =>
        cluster.patch(
          configMapRef(),
          { type: "merge", body: JSON.parse(JSON.stringify(body)) },
          { manager: "beta", ...options },
          signal,
        );

      test("of type merge changes fields, and removes those that are null", async () => {
        await create(configMap("a", { k: "v", l: "w" }));
        const patched = await merge({ data: { k: null, m: "x" } });
        expect(patched["data"]).toEqual({ l: "w", m: "x" });
        expect(managersOf(patched)).toEqual(["alpha Update", "beta Update"]);
      });

      test("that changes nothing keeps the resourceVersion", async () => {
        const before = await create(configMap());
        expect((await merge({ data: { k: "v" } })).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
      });

      test("with the resourceVersion of an older state is a conflict", async () => {
        const { metadata } = await create(configMap());
        await merge({ data: { k: "w" } });
        const error = await faultOf(
          merge({ metadata: { resourceVersion: metadata.resourceVersion }, data: { k: "x" } }),
        );
        expect(error).toMatchObject({ code: 409, reason: "Conflict" });
      });

      test("as a dry run stores nothing", async () => {
        await create(configMap());
        expect((await merge({ data: { k: "w" } }, { dryRun: true }))["data"]).toEqual({ k: "w" });
        expect((await get(configMapRef()))?.["data"]).toEqual({ k: "v" });
      });

      test("of an object that is not there is NotFound", async () => {
        const error = await faultOf(merge({ data: { k: "w" } }));
        expect(error).toMatchObject({ code: 404, reason: "NotFound" });
        expect(error.message).toBe('configmaps "a" not found');
      });

      test("of type json does its operations", async () => {
        await create(configMap());
        const body = [
          { op: "test", path: "/data/k", value: "v" },
          { op: "replace", path: "/data/k", value: "w" },
        ];
        const patched = await cluster.patch(configMapRef(), { type: "json", body }, { manager: "beta" }, signal);
        expect(patched["data"]).toEqual({ k: "w" });
      });

      test("of type json with a test that fails changes nothing", async () => {
        await create(configMap());
        const body = [
          { op: "replace", path: "/data/k", value: "w" },
          { op: "test", path: "/data/k", value: "x" },
        ];
        const error = await faultOf(cluster.patch(configMapRef(), { type: "json", body }, { manager: "beta" }, signal));
        expect(error.code).toBe(422);
        expect((await get(configMapRef()))?.["data"]).toEqual({ k: "v" });
      });

      test("of the status leaves the spec", async () => {
        const before = await create(deployment());
        const body = { spec: { replicas: 5 }, status: { observedGeneration: 7 } };
        const patched = await cluster.patch(
          refOf(before),
          { type: "merge", body },
          { manager: "beta", subresource: "status" },
          signal,
        );
        expect(patched).toMatchObject({ spec: { replicas: 0 }, status: { observedGeneration: 7 } });
      });
    });

    describe("get", () => {
      test("of an object that is not there is undefined", async () => {
        expect(await get(configMapRef("none"))).toBeUndefined();
      });

      test("of an object in a namespace that is not there is undefined", async () => {
        expect(await get({ ...configMapRef(), namespace: "contract-nowhere" })).toBeUndefined();
      });

      test("of a kind or version that is not served is NoMatch, never undefined", async () => {
        const kind = await faultOf(get({ group: "example.test", version: "v1", kind: "Widget", namespace, name: "a" }));
        const version = await faultOf(get({ ...configMapRef(), version: "v7" }));
        expect([kind.reason, version.reason]).toEqual(["NoMatch", "NoMatch"]);
      });

      test("answers an object in the version that is asked for", async () => {
        const autoscaler = {
          apiVersion: "autoscaling/v1",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "a", namespace },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "app" },
            maxReplicas: 3,
            targetCPUUtilizationPercentage: 60,
          },
        };
        await create(autoscaler);
        const ref = { group: "autoscaling", kind: "HorizontalPodAutoscaler", namespace, name: "a" };
        expect(await get({ ...ref, version: "v2" })).toMatchObject({
          apiVersion: "autoscaling/v2",
          spec: { metrics: [{ type: "Resource", resource: { target: { averageUtilization: 60 } } }] },
        });
      });
    });

    describe("lists", () => {
      test("hold whole objects with kind and version, by name", async () => {
        for (const name of ["b", "a"]) await create(configMap(name));
        const objects = (await cluster.list(configMaps(), signal)).filter(isOurs);
        expect(objects.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
        expect(objects[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { k: "v" } });
      });

      test("of labels hold what matches", async () => {
        await create(configMap("a", {}, { labels: { app: "x" } }));
        await create(configMap("b", {}, { labels: { app: "y" } }));
        const found = await cluster.list({ ...configMaps(), labelSelector: "app=x" }, signal);
        expect(found.map(({ metadata }) => metadata.name)).toEqual(["a"]);
      });

      test("of fields hold what matches", async () => {
        for (const name of ["a", "b"]) await create(configMap(name));
        const found = await cluster.list({ ...configMaps(), fieldSelector: "metadata.name=b" }, signal);
        expect(found.map(({ metadata }) => metadata.name)).toEqual(["b"]);
      });

      test("of a selector that does not parse are refused", async () => {
        const error = await faultOf(cluster.list({ ...configMaps(), labelSelector: "a in" }, signal));
        expect(error).toMatchObject({ code: 400, reason: "BadRequest" });
      });

      test("without a namespace hold those of all namespaces", async () => {
        await create(configMap("a", {}, { labels: { contract: namespace } }));
        const { group, version, kind } = configMaps();
        const found = await cluster.list({ group, version, kind, labelSelector: `contract=${namespace}` }, signal);
        expect(found.map(({ metadata }) => metadata.namespace)).toEqual([namespace]);
      });

      test("are empty where nothing is there, be it the namespace", async () => {
        expect(await cluster.list({ ...configMaps(), labelSelector: "a=none" }, signal)).toEqual([]);
        expect(await cluster.list({ ...configMaps(), namespace: "contract-nowhere" }, signal)).toEqual([]);
        expect(await cluster.listMetadata({ ...configMaps(), labelSelector: "a=none" }, signal)).toEqual([]);
      });

      test("of a cluster-scoped kind hold its objects", async () => {
        const query = { group: "", version: "v1", kind: "Namespace", fieldSelector: `metadata.name=${namespace}` };
        expect(await cluster.list(query, signal)).toMatchObject([{ kind: "Namespace", metadata: { name: namespace } }]);
      });

      test("of a kind that is not served are NoMatch", async () => {
        const error = await faultOf(cluster.list({ group: "example.test", version: "v1", kind: "Widget" }, signal));
        expect(error.reason).toBe("NoMatch");
      });

      test("of metadata name the object's own kind and leave out its content", async () => {
        const { object } = await apply(configMap("a", { k: "v" }, { labels: { app: "x" } }));
        const found = await cluster.listMetadata({ ...configMaps(), labelSelector: "app=x" }, signal);
        expect(found).toEqual([{ apiVersion: "v1", kind: "ConfigMap", metadata: object.metadata }]);
      });

      test("of more objects than a page holds are whole", async () => {
        const names = Array.from({ length: 520 }, (_, index) => `page-${String(index).padStart(4, "0")}`);
        await mapLimit(names, 16, (name) => create(configMap(name, {}, { labels: { paged: "yes" } })), signal);
        const query = { ...configMaps(), labelSelector: "paged=yes" };
        const [whole, partial] = await Promise.all([cluster.list(query, signal), cluster.listMetadata(query, signal)]);
        expect(whole.map(({ metadata }) => metadata.name)).toEqual(names);
        expect(partial.map(({ metadata }) => metadata.name)).toEqual(names);
      });
    });

    describe("watch", () => {
      test("tells first what is there, and where that ends", async () => {
        await create(configMap("a", {}, { labels: { app: "x" } }));
        using events = follow(cluster, { ...configMaps(), labelSelector: "app=x" });
        expect(await events.next()).toMatchObject({
          type: "ADDED",
          object: { kind: "ConfigMap", metadata: { name: "a" } },
        });
        expect(await events.next()).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
      });

      test("then tells what is created, changed and deleted", async () => {
        using events = follow(cluster, { ...configMaps(), fieldSelector: "metadata.name=a" });
        await events.initialEnd();
        await create(configMap());
        expect(await events.next()).toMatchObject({ type: "ADDED", object: { data: { k: "v" } } });
        await apply(configMap("a", { l: "w" }));
        expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { data: { k: "v", l: "w" } } });
        await remove(configMapRef());
        expect(await events.next()).toMatchObject({ type: "DELETED", object: { metadata: { name: "a" } } });
      });

      test("of a selector tells an object that begins to match as added, one that stops as deleted", async () => {
        using events = follow(cluster, { ...configMaps(), labelSelector: "app=x" });
        await events.initialEnd();
        await create(configMap());
        await apply(configMap("a", {}, { labels: { app: "x" } }), "beta");
        expect(await events.next()).toMatchObject({ type: "ADDED" });
        await apply(configMap("a", {}), "beta");
        expect(await events.next()).toMatchObject({ type: "DELETED" });
      });

      test("tells nothing of other namespaces", async () => {
        using events = follow(cluster, { ...configMaps(), fieldSelector: "metadata.name=a" });
        await events.initialEnd();
        await create({ ...configMap(), metadata: { name: "a", namespace: "default" } });
        await remove({ ...configMapRef(), namespace: "default" });
        await create(configMap());
        expect(await events.next()).toMatchObject({ type: "ADDED", object: { metadata: { namespace } } });
      });

      test("ends with the reason that its signal was aborted with", async () => {
        const stop = new AbortController();
        const watching = cluster.watch(configMaps(), stop.signal)[Symbol.asyncIterator]();
        for (;;) {
          const step: IteratorResult<WatchEvent, undefined> = await watching.next();
          if (step.done === true || step.value.type === "BOOKMARK") break;
        }
        const next = watching.next();
        stop.abort(new Error("enough"));
        await expect(next).rejects.toThrow("enough");
      });

      test("of a kind that is not served is NoMatch", async () => {
        const watching = cluster.watch({ group: "example.test", version: "v1", kind: "Widget" }, signal);
        expect(await faultOf(watching[Symbol.asyncIterator]().next())).toMatchObject({ reason: "NoMatch" });
      });
    });

    describe("delete", () => {
      test("removes the object, and the second time finds it gone", async () => {
        await create(configMap());
        expect(await remove(configMapRef())).toBe("deleted");
        expect(await get(configMapRef())).toBeUndefined();
        expect(await remove(configMapRef())).toBe("gone");
      });

      test("in a namespace that is not there finds it gone", async () => {
        expect(await remove({ ...configMapRef(), namespace: "contract-nowhere" })).toBe("gone");
      });

      test("of a Service, which the server answers with the object, is done too", async () => {
        await create({
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "a", namespace },
          spec: { ports: [{ port: 80 }] },
        });
        expect(await remove({ group: "", version: "v1", kind: "Service", namespace, name: "a" })).toBe("deleted");
      });

      test("of an object with a finalizer waits until that is gone", async () => {
        await create(configMap("a", {}, { finalizers: ["example.test/held"] }));
        expect(await remove(configMapRef())).toBe("deleting");
        expect(await remove(configMapRef())).toBe("deleting");
        expect((await get(configMapRef()))?.metadata.deletionTimestamp).toBeDefined();
        const body = { metadata: { finalizers: null } };
        await cluster.patch(configMapRef(), { type: "merge", body }, { manager: "beta" }, signal);
        expect(await get(configMapRef())).toBeUndefined();
      });

      test("of another uid than the object has is a conflict and removes nothing", async () => {
        await create(configMap());
        const error = await faultOf(remove(configMapRef(), { uid: randomUUID() }));
        expect(error).toMatchObject({ code: 409, reason: "Conflict" });
        expect(await get(configMapRef())).toBeDefined();
      });

      test("of an older state than the object's is a conflict and removes nothing", async () => {
        const { metadata } = await create(configMap());
        await apply(configMap("a", { l: "w" }));
        const { uid, resourceVersion } = metadata;
        const error = await faultOf(remove(configMapRef(), { uid, resourceVersion }));
        expect(error).toMatchObject({ code: 409, reason: "Conflict" });
        expect(await get(configMapRef())).toBeDefined();
      });

      test("of the very state that was read removes it", async () => {
        const { metadata } = await create(configMap());
        const { uid, resourceVersion } = metadata;
        expect(await remove(configMapRef(), { uid, resourceVersion })).toBe("deleted");
      });

      test("of a namespace goes on after the answer", async () => {
        const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: namespace };
        expect(await remove(ref)).toBe("deleting");
      });

      test("of a kind that is not served is NoMatch", async () => {
        const error = await faultOf(
          remove({ group: "example.test", version: "v1", kind: "Widget", namespace, name: "a" }),
        );
        expect(error.reason).toBe("NoMatch");
      });
    });

    describe("discovery", () => {
      test("knows a kind's name in URLs, its scope and its verbs", async () => {
        const found = await cluster.resource({ group: "apps", kind: "Deployment" }, signal);
        expect(found).toMatchObject({ group: "apps", version: "v1", plural: "deployments", namespaced: true });
        expect(found?.verbs).toContain("patch");
        const namespaces = await cluster.resource({ group: "", kind: "Namespace", version: "v1" }, signal);
        expect(namespaces).toMatchObject({ plural: "namespaces", namespaced: false });
      });

      test("prefers the version that the server prefers", async () => {
        const query = { group: "autoscaling", kind: "HorizontalPodAutoscaler" };
        expect(await cluster.resource(query, signal)).toMatchObject({ version: "v2" });
        expect(await cluster.resource({ ...query, version: "v1" }, signal)).toMatchObject({ version: "v1" });
      });

      test("does not know what is not served", async () => {
        expect(await cluster.resource({ group: "example.test", kind: "Widget" }, signal)).toBeUndefined();
        expect(await cluster.resource({ group: "apps", kind: "Deployment", version: "v7" }, signal)).toBeUndefined();
      });

      test("finds a kind that has just been defined, and after its end no more", async () => {
        const group = `${namespace}.example.test`;
        const query = { group, kind: "Widget" };
        expect(await cluster.resource(query, signal)).toBeUndefined();
        const definition = await create(widgetDefinition(group));
        await expect.poll(() => cluster.resource(query, signal), { timeout: 10_000 }).toBeDefined();
        const widget = {
          apiVersion: `${group}/v1`,
          kind: "Widget",
          metadata: { name: "a", namespace },
          spec: { size: 1 },
        };
        await expect
          .poll(
            () =>
              apply(widget).then(
                ({ created }) => created,
                () => false,
              ),
            { timeout: 10_000 },
          )
          .toBe(true);
        expect(await cluster.list({ group, version: "v1", kind: "Widget", namespace }, signal)).toMatchObject([
          { apiVersion: `${group}/v1`, kind: "Widget", spec: { size: 1 } },
        ]);
        await remove(refOf(definition));
        const reasonOfGet = () =>
          get(refOf(widget)).then(
            () => "there",
            (error: unknown) => error instanceof ApiError && error.reason,
          );
        await expect.poll(reasonOfGet, { timeout: 20_000 }).toBe("NoMatch");
      });

      test("tells one cluster from another by a uid that stays", async () => {
        const uid = await cluster.uid(signal);
        expect(uid).toMatch(/^[0-9a-f-]{36}$/);
        expect(await cluster.uid(signal)).toBe(uid);
      });
    });

    describe("the kinds that Sluice brings", () => {
      beforeAll(async () => {
        for (const file of ["kustomizations.kustomize.toolkit.fluxcd.io", "ocirepositories.source.toolkit.fluxcd.io"]) {
          const text = await readFile(join(import.meta.dirname, `../../infra/crds/${file}.yaml`), "utf8");
          const definition: Manifest = parse(text);
          await cluster.apply(definition, { manager: "alpha", force: true }, signal);
        }
        // A definition is served some moments after it was stored.
        await vi.waitFor(() => apply(kustomization({}, "v1beta1", "default")), { timeout: 10_000 });
        await remove({ ...refOf(kustomization()), namespace: "default" });
      });

      const kustomization = (spec = {}, version = "v1", within = namespace): Manifest => ({
        apiVersion: `kustomize.toolkit.fluxcd.io/${version}`,
        kind: "Kustomization",
        metadata: { name: "app", namespace: within },
        spec: { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "app" }, ...spec },
      });

      test("begin with observedGeneration -1 and with the defaults of their spec (5)", async () => {
        const { object } = await apply(kustomization());
        expect(object).toMatchObject({ spec: { force: false }, status: { observedGeneration: -1 } });
        expect(object.metadata.generation).toBe(1);
      });

      test("take YAML of 2021 and keep what v1 has no more, in every version", async () => {
        const former = {
          path: "./deploy",
          validation: "client",
          patchesStrategicMerge: [
            { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "app" }, spec: { replicas: 2 } },
          ],
          patchesJson6902: [
            {
              patch: [{ op: "add", path: "/data/k", value: { a: [1] } }],
              target: { version: "v1", kind: "ConfigMap", name: "a" },
            },
          ],
          healthChecks: [{ apiVersion: "apps/v1", kind: "Deployment", name: "app", namespace: "default" }],
        };
        await create(kustomization(former, "v1beta1"));
        for (const version of ["v1beta1", "v1beta2", "v1"]) {
          expect(await get({ ...refOf(kustomization()), version })).toMatchObject({
            apiVersion: `kustomize.toolkit.fluxcd.io/${version}`,
            spec: former,
          });
        }
      });

      test("take the OCIRepository of the field report, in v1beta2", async () => {
        const spec = { interval: "5m", url: "oci://127.0.0.1:5000/oddy", ref: { tag: "v1" }, insecure: true };
        const source = {
          apiVersion: "source.toolkit.fluxcd.io/v1beta2",
          kind: "OCIRepository",
          metadata: { name: "oddy", namespace },
          spec,
        };
        const { object } = await apply(source);
        expect(object["spec"]).toEqual({ ...spec, provider: "generic", timeout: "60s" });
        expect(await get({ ...refOf(source), version: "v1" })).toMatchObject({ spec });
      });

      test.each([
        ["spec.interval", { interval: "10" }],
        ["spec.retryInterval", { retryInterval: "-5m" }],
        ["spec.timeout", { timeout: "1d" }],
        ["spec.targetNamespace", { targetNamespace: "n".repeat(64) }],
        ["spec.namePrefix", { namePrefix: "" }],
        ["spec.sourceRef.kind", { sourceRef: { kind: "HelmRepository", name: "a" } }],
        ["spec.decryption.provider", { decryption: { provider: "vault" } }],
        ["spec.deletionPolicy", { deletionPolicy: "Keep" }],
        ["spec.buildMetadata", { buildMetadata: ["foo"] }],
        ["spec.postBuild.substituteFrom", { postBuild: { substituteFrom: [{ kind: "Pod", name: "a" }] } }],
        ["spec.kubeConfig", { kubeConfig: {} }],
        ["spec.kubeConfig", { kubeConfig: { secretRef: { name: "a" }, configMapRef: { name: "b" } } }],
      ])("are refused with a bad %s (2, 3, 4)", async (field, spec) => {
        const error = await faultOf(create(kustomization(spec)));
        expect(error).toMatchObject({ code: 422, reason: "Invalid" });
        expect(error.message).toContain(field);
      });

      test("are refused without interval, prune and sourceRef (1)", async () => {
        const error = await faultOf(create({ ...kustomization(), spec: {} }));
        for (const field of ["spec.interval", "spec.prune", "spec.sourceRef"])
          expect(error.message).toContain(`${field}: Required value`);
      });

      test("say why a kubeConfig of both kinds is refused (3)", async () => {
        const kubeConfig = { secretRef: { name: "a" }, configMapRef: { name: "b" } };
        expect((await faultOf(create(kustomization({ kubeConfig })))).message).toContain(
          "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified",
        );
      });

      test("take Flux's finalizer, whose name has no domain of its own", async () => {
        await create(kustomization());
        const body = { metadata: { finalizers: ["finalizers.fluxcd.io"] } };
        const patch = { type: "merge", body } as const;
        const held = await cluster.patch(refOf(kustomization()), patch, { manager: "beta" }, signal);
        expect(held.metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
        expect(await remove(refOf(kustomization()))).toBe("deleting");
        const released = { type: "merge", body: { metadata: { finalizers: null } } } as const;
        await cluster.patch(refOf(kustomization()), released, { manager: "beta" }, signal);
        expect(await get(refOf(kustomization()))).toBeUndefined();
      });

      test("have their status written apart from their spec", async () => {
        await create(kustomization());
        const body = { spec: { prune: false }, status: { observedGeneration: 1, lastAppliedRevision: "v1@sha256:1" } };
        const options = { manager: "gotk-kustomize-controller", subresource: "status" };
        const patched = await cluster.patch(refOf(kustomization()), { type: "merge", body }, options, signal);
        expect(patched).toMatchObject({ spec: { prune: true }, status: { lastAppliedRevision: "v1@sha256:1" } });
        expect(patched.metadata.generation).toBe(1);
      });
    });

    describe("a request", () => {
      test("whose signal is aborted is not sent", async () => {
        const reason = new Error("enough");
        await expect(cluster.get(configMapRef(), AbortSignal.abort(reason))).rejects.toBe(reason);
      });
    });
  });
}

/** The error that a call ends with; a call that succeeds fails the test. */
async function faultOf(call: Promise<unknown>): Promise<ApiError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof ApiError) return outcome;
  throw new Error("expected an ApiError", { cause: outcome });
}

/** Every namespace of a real cluster gets this ConfigMap from a controller. */
function isOurs({ metadata }: LiveObject): boolean {
  return metadata.name !== "kube-root-ca.crt";
}

function widgetDefinition(group: string): Manifest {
  const spec = { type: "object", properties: { size: { type: "integer" } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        },
      ],
    },
  };
}

/** A watch that is read event by event, bookmarks on the way left out, each within 10 s. */
function follow(cluster: Cluster, query: Parameters<Cluster["watch"]>[0]) {
  const stop = new AbortController();
  const events = cluster
    .watch(query, AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]))
    [Symbol.asyncIterator]();
  const next = async (): Promise<WatchEvent> => {
    for (;;) {
      const { value, done } = await events.next();
      if (done === true) throw new Error("the watch ended");
      if (value.type !== "BOOKMARK" || value.initialEventsEnd) return value;
    }
  };
  return {
    next,
    async initialEnd() {
      while ((await next()).type !== "BOOKMARK");
    },
    [Symbol.dispose]() {
      stop.abort(new Error("read enough"));
    },
  };
}
