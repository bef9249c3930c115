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

    test("with the resourceVersion of an older state is a conflict", async () => {
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
      const patched = await space.cluster.patch(configMapRef(), { type: "json", body }, { manager: "beta" }, signal);
      expect(patched["data"]).toEqual({ k: "w" });
    });

    test("of type json with a test that fails changes nothing", async () => {
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

    test("of the status leaves the spec", async () => {
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
  });
}
