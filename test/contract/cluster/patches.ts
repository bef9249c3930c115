import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { refOf } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function patchesContract(start: StartCluster): void {
  describe("patch", () => {
    const space = workspace(start);
    const { create, get, configMap, deployment, configMapRef, managersOf, signal } = space;

    const merge = (body: Record<string, never> | object, options = {}) =>
      space.cluster.patch(
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

    test("with an outdated resourceVersion is a conflict", async () => {
      const { metadata } = await create(configMap());
      await merge({ data: { k: "w" } });
      const error = await faultOf(merge({ metadata: { resourceVersion: metadata.resourceVersion }, data: { k: "x" } }));
      expect(error).toMatchObject({ code: 409, reason: "Conflict" });
    });

    test("as a dry run stores nothing", async () => {
      await create(configMap());
      expect((await merge({ data: { k: "w" } }, { dryRun: true }))["data"]).toEqual({ k: "w" });
      expect((await get(configMapRef()))?.["data"]).toEqual({ k: "v" });
    });

    test("of a missing object is NotFound", async () => {
      const error = await faultOf(merge({ data: { k: "w" } }));
      expect(error).toMatchObject({ code: 404, reason: "NotFound" });
      expect(error.message).toBe('configmaps "a" not found');
    });

    test("of type json applies its operations", async () => {
      await create(configMap());
      const body = [
        { op: "test", path: "/data/k", value: "v" },
        { op: "replace", path: "/data/k", value: "w" },
      ];
      const patched = await space.cluster.patch(configMapRef(), { type: "json", body }, { manager: "beta" }, signal);
      expect(patched["data"]).toEqual({ k: "w" });
    });

    test("of type json with a failing test changes nothing", async () => {
      await create(configMap());
      const body = [
        { op: "replace", path: "/data/k", value: "w" },
        { op: "test", path: "/data/k", value: "x" },
      ];
      const error = await faultOf(
        space.cluster.patch(configMapRef(), { type: "json", body }, { manager: "beta" }, signal),
      );
      expect(error.code).toBe(422);
      expect((await get(configMapRef()))?.["data"]).toEqual({ k: "v" });
    });

    test("of the status keeps the spec", async () => {
      const before = await create(deployment());
      const body = { spec: { replicas: 5 }, status: { observedGeneration: 7 } };
      const patched = await space.cluster.patch(
        refOf(before),
        { type: "merge", body },
        { manager: "beta", subresource: "status" },
        signal,
      );
      expect(patched).toMatchObject({ spec: { replicas: 0 }, status: { observedGeneration: 7 } });
    });

    const raw = (type: string, json: unknown, path = "configmaps/a", group = "api/v1") =>
      space.api.expect(
        {
          verb: "patch",
          method: "PATCH",
          path: `/${group}/namespaces/${space.namespace}/${path}`,
          query: { fieldManager: "beta" },
          body: { type, json },
          repeatable: false,
        },
        signal,
      );
    const strategic = async (spec: object): Promise<unknown> => {
      const patch = { spec: { template: { spec } } };
      const type = "application/strategic-merge-patch+json";
      return JSON.parse((await raw(type, patch, "deployments/app", "apis/apps/v1")).text);
    };
    const podOf = (spec: object) => ({ spec: { template: { spec } } });

    test("of type merge replaces a list by a list", async () => {
      await create(deployment());
      const containers = [{ name: "other", image: "example.test/other:1" }];
      const body = { spec: { template: { spec: { containers } } } };
      const patched = await space.cluster.patch(refOf(deployment()), { type: "merge", body }, { manager: "b" }, signal);
      expect(patched).toMatchObject(podOf({ containers: [{ name: "other" }] }));
    });

    test("of type strategic merges lists by their key, a new item first", async () => {
      await create(deployment());
      const containers = [{ name: "side", image: "example.test/side:1" }];
      expect(await strategic({ containers })).toMatchObject(podOf({ containers: [{ name: "side" }, { name: "app" }] }));
      const deleted = [{ name: "side", $patch: "delete" }];
      expect(await strategic({ containers: deleted })).toMatchObject(podOf({ containers: [{ name: "app" }] }));
    });

    test("of an unknown type is refused", async () => {
      await create(configMap());
      const error = await faultOf(raw("application/x-patch", {}));
      expect(error).toMatchObject({ code: 415, reason: "UnsupportedMediaType" });
    });

    test("must not change a name, a namespace or a kind", async () => {
      await create(configMap());
      expect(await faultOf(merge({ metadata: { name: "b" } }))).toMatchObject({ code: 400, reason: "BadRequest" });
      expect(await faultOf(merge({ metadata: { namespace: "b" } }))).toMatchObject({ code: 400, reason: "BadRequest" });
      expect(await faultOf(merge({ kind: "Secret" }))).toMatchObject({ code: 422, reason: "Invalid" });
    });

    test("with the uid of another object is refused", async () => {
      await create(configMap());
      const error = await faultOf(merge({ metadata: { uid: randomUUID() }, data: { k: "w" } }));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.message).toContain("metadata.uid");
    });

    test("that makes an object invalid changes nothing", async () => {
      await create(deployment());
      const body = { spec: { replicas: -1 } };
      const call = space.cluster.patch(refOf(deployment()), { type: "merge", body }, { manager: "b" }, signal);
      expect(await faultOf(call)).toMatchObject({ code: 422, reason: "Invalid" });
      expect((await get(refOf(deployment())))?.["spec"]).toMatchObject({ replicas: 0 });
    });

    test("of type json can append to lists, and reads ~1 as a slash", async () => {
      await create(configMap("a", { k: "v" }, { finalizers: ["example.test/a"], annotations: { "x/y": "1" } }));
      const body = [
        { op: "add", path: "/metadata/finalizers/-", value: "example.test/b" },
        { op: "add", path: "/metadata/finalizers/0", value: "example.test/c" },
        { op: "replace", path: "/metadata/annotations/x~1y", value: "2" },
        { op: "remove", path: "/data/k" },
      ];
      const patched = await space.cluster.patch(configMapRef(), { type: "json", body }, { manager: "beta" }, signal);
      expect(patched.metadata).toMatchObject({
        finalizers: ["example.test/c", "example.test/a", "example.test/b"],
        annotations: { "x/y": "2" },
      });
      expect(patched["data"]).toBeUndefined();
      await merge({ metadata: { finalizers: null } });
    });

    test("of type json can test the resourceVersion as a precondition", async () => {
      const { metadata } = await create(configMap());
      await merge({ data: { k: "w" } });
      const test = { op: "test", path: "/metadata/resourceVersion", value: metadata.resourceVersion ?? "" };
      const body = [test, { op: "replace", path: "/data/k", value: "x" }];
      const call = space.cluster.patch(configMapRef(), { type: "json", body }, { manager: "beta" }, signal);
      expect(await faultOf(call)).toMatchObject({ code: 422, reason: "Invalid" });
    });

    test("of the status of an object without a status is NotFound", async () => {
      await create(configMap());
      const options = { manager: "beta", subresource: "status" };
      const call = space.cluster.patch(configMapRef(), { type: "merge", body: {} }, options, signal);
      expect((await faultOf(call)).code).toBe(404);
    });
  });
}
