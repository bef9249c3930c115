import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function ownershipContract(start: StartCluster): void {
  describe("ownership of fields by server-side apply", () => {
    const space = workspace(start);
    const { apply, create, get, configMap, configMapRef, managersOf } = space;

    test("keeps fields that another manager has set", async () => {
      await apply(configMap("a", { k: "v" }));
      const { object } = await apply(configMap("a", { l: "w" }), "beta");
      expect(object["data"]).toEqual({ k: "v", l: "w" });
    });

    test("with an equal value makes both managers owners, so that one may give the field up", async () => {
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

    test("against a field set by an update is a conflict too", async () => {
      await create(configMap(), { manager: "editor" });
      const error = await faultOf(apply(configMap("a", { k: "w" })));
      expect(error.message).toBe('Apply failed with 1 conflict: conflict with "editor" using v1: .data.k');
    });
  });
}
