import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function deletionContract(start: StartCluster): void {
  describe("delete", () => {
    const space = workspace(start);
    const { apply, create, get, remove, configMap, configMapRef, signal } = space;

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
        metadata: { name: "a", namespace: space.namespace },
        spec: { ports: [{ port: 80 }] },
      });
      expect(await remove({ group: "", version: "v1", kind: "Service", namespace: space.namespace, name: "a" })).toBe(
        "deleted",
      );
    });

    test("of an object with a finalizer waits until that is gone", async () => {
      await create(configMap("a", {}, { finalizers: ["example.test/held"] }));
      expect(await remove(configMapRef())).toBe("deleting");
      expect(await remove(configMapRef())).toBe("deleting");
      expect((await get(configMapRef()))?.metadata.deletionTimestamp).toBeDefined();
      const body = { metadata: { finalizers: null } };
      await space.cluster.patch(configMapRef(), { type: "merge", body }, { manager: "beta" }, signal);
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
      const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: space.namespace };
      expect(await remove(ref)).toBe("deleting");
    });

    test("of a kind that is not served is NoMatch", async () => {
      const error = await faultOf(
        remove({ group: "example.test", version: "v1", kind: "Widget", namespace: space.namespace, name: "a" }),
      );
      expect(error.reason).toBe("NoMatch");
    });
  });
}
