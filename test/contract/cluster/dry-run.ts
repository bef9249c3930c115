import { describe, expect, test } from "vitest";
import { refOf } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { follow } from "./follow.ts";
import { workspace } from "./workspace.ts";

export function dryRunContract(start: StartCluster): void {
  describe("a dry run", () => {
    const space = workspace(start);
    const { apply, create, get, configMap, deployment, configMapRef, managersOf, signal } = space;

    test("of a new object stores nothing", async () => {
      const { created, object } = await apply(configMap(), "alpha", { dryRun: true });
      expect(created).toBe(true);
      expect(object["data"]).toEqual({ k: "v" });
      expect(await get(configMapRef())).toBeUndefined();
    });

    test("of a change returns the result and stores nothing", async () => {
      const before = await apply(configMap());
      const dry = await apply(configMap("a", { k: "w" }), "alpha", { dryRun: true });
      expect(dry.object["data"]).toEqual({ k: "w" });
      expect(dry.object.metadata.resourceVersion).toBe(before.object.metadata.resourceVersion);
      expect(await get(configMapRef())).toEqual(before.object);
    });

    test("of no change returns the stored object", async () => {
      const before = await apply(deployment());
      const dry = await apply(deployment(), "alpha", { dryRun: true });
      expect(dry.object).toMatchObject({ metadata: { generation: 1 }, spec: before.object["spec"] });
    });

    test("reports a conflict", async () => {
      await apply(configMap());
      const error = await faultOf(apply(configMap("a", { k: "w" }), "beta", { dryRun: true }));
      expect(error).toMatchObject({ code: 409, reason: "Conflict" });
    });

    test("with force shows which manager would lose the field, and changes nothing", async () => {
      await apply(configMap());
      const { object } = await apply(configMap("a", { k: "w" }), "beta", { dryRun: true, force: true });
      expect(object["data"]).toEqual({ k: "w" });
      expect(managersOf(object)).toEqual(["beta Apply"]);
      expect(managersOf(await get(configMapRef()))).toEqual(["alpha Apply"]);
    });

    test("of a new object has a uid, a creation time and no resourceVersion", async () => {
      const { metadata } = (await apply(configMap(), "alpha", { dryRun: true })).object;
      expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(metadata.creationTimestamp).toBeDefined();
      expect(metadata.resourceVersion).toBeUndefined();
    });

    test("fills in the server's defaults, and raises the generation like the change itself", async () => {
      await apply(deployment());
      const { object } = await apply(deployment("example.test/app:2"), "alpha", { dryRun: true });
      expect(object).toMatchObject({ metadata: { generation: 2 }, spec: { progressDeadlineSeconds: 600 } });
      expect((await get(refOf(deployment())))?.metadata.generation).toBe(1);
    });

    test("reports an invalid object", async () => {
      const error = await faultOf(apply(deployment("example.test/app:1", { replicas: -1 }), "alpha", { dryRun: true }));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
    });

    test("in a missing namespace is NotFound", async () => {
      const elsewhere = { ...configMap(), metadata: { name: "a", namespace: "contract-nowhere" } };
      expect(await faultOf(apply(elsewhere, "alpha", { dryRun: true }))).toMatchObject({
        code: 404,
        reason: "NotFound",
      });
    });

    test("of a change that removes a field shows the object without the field and keeps it", async () => {
      await apply(configMap("a", { k: "v", l: "w" }));
      const { object } = await apply(configMap("a", { k: "v" }), "alpha", { dryRun: true });
      expect(object["data"]).toEqual({ k: "v" });
      expect((await get(configMapRef()))?.["data"]).toEqual({ k: "v", l: "w" });
    });

    test("is not reported to watchers", async () => {
      await create(configMap());
      using events = follow(space.cluster, { ...space.configMaps(), fieldSelector: "metadata.name=a" });
      await events.initialEnd();
      await apply(configMap("a", { l: "x" }), "beta", { dryRun: true });
      await space.cluster.patch(
        configMapRef(),
        { type: "merge", body: { data: { m: "y" } } },
        { manager: "beta" },
        signal,
      );
      expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { data: { k: "v", m: "y" } } });
    });
  });
}
