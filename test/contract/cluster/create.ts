import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function createContract(start: StartCluster): void {
  describe("create", () => {
    const space = workspace(start);
    const { create, get, configMap, configMapRef, managersOf } = space;

    test("returns the object as it is stored", async () => {
      const created = await create(configMap());
      expect(await get(configMapRef())).toEqual(created);
      expect(managersOf(created)).toEqual(["alpha Update"]);
    });

    test("of an existing object is AlreadyExists", async () => {
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
        metadata: { name: "a.1", namespace: space.namespace },
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace: space.namespace, name: "a" },
        type: "Normal",
        reason: "Progressing",
        message: "ConfigMap/a created",
        firstTimestamp: "2026-11-21T12:00:00Z",
        lastTimestamp: "2026-11-21T12:00:00Z",
        count: 1,
      });
      expect(event).toMatchObject({ reason: "Progressing", count: 1 });
    });

    test("in a missing namespace is NotFound", async () => {
      const error = await faultOf(create({ ...configMap(), metadata: { name: "a", namespace: "contract-nowhere" } }));
      expect(error).toMatchObject({ code: 404, reason: "NotFound" });
    });
  });
}
