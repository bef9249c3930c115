import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function dryRunContract(start: StartCluster): void {
  describe("a dry run", () => {
    const space = workspace(start);
    const { apply, get, configMap, deployment, configMapRef } = space;

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
  });
}
