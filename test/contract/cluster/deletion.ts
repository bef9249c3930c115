import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, refOf } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function deletionContract(start: StartCluster): void {
  describe("delete", () => {
    const space = workspace(start);
    const { apply, create, get, remove, configMap, deployment, configMapRef, signal } = space;

    test("removes the object, and the second time finds it missing", async () => {
      await create(configMap());
      expect(await remove(configMapRef())).toBe("deleted");
      expect(await get(configMapRef())).toBeUndefined();
      expect(await remove(configMapRef())).toBe("gone");
    });

    test("of an object that an apply created with a deletionTimestamp removes it", async () => {
      const deletionTimestamp = "2020-01-01T00:00:00Z";
      const { object } = await apply(configMap("a", {}, { deletionTimestamp }));
      expect(object.metadata.deletionTimestamp).toBe(deletionTimestamp);
      expect((await get(configMapRef()))?.metadata.deletionTimestamp).toBe(deletionTimestamp);
      await remove(configMapRef());
      expect(await get(configMapRef())).toBeUndefined();
    });

    test("in a missing namespace reports the object as missing", async () => {
      expect(await remove({ ...configMapRef(), namespace: "contract-nowhere" })).toBe("gone");
    });

    test("of a Service, which the server answers with the object, succeeds too", async () => {
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

    test("of an object with a finalizer waits until the finalizer is removed", async () => {
      await create(configMap("a", {}, { finalizers: ["example.test/held"] }));
      expect(await remove(configMapRef())).toBe("deleting");
      expect(await remove(configMapRef())).toBe("deleting");
      expect((await get(configMapRef()))?.metadata.deletionTimestamp).toBeDefined();
      const body = { metadata: { finalizers: null } };
      await space.cluster.patch(configMapRef(), { type: "merge", body }, { manager: "beta" }, signal);
      expect(await get(configMapRef())).toBeUndefined();
    });

    test("with another uid than the object's is a conflict and removes nothing", async () => {
      await create(configMap());
      const error = await faultOf(remove(configMapRef(), { uid: randomUUID() }));
      expect(error).toMatchObject({ code: 409, reason: "Conflict" });
      expect(await get(configMapRef())).toBeDefined();
    });

    test("with an outdated resourceVersion is a conflict and removes nothing", async () => {
      const { metadata } = await create(configMap());
      await apply(configMap("a", { l: "w" }));
      const { uid, resourceVersion } = metadata;
      const error = await faultOf(remove(configMapRef(), { uid, resourceVersion }));
      expect(error).toMatchObject({ code: 409, reason: "Conflict" });
      expect(await get(configMapRef())).toBeDefined();
    });

    test("with the current resourceVersion removes the object", async () => {
      const { metadata } = await create(configMap());
      const { uid, resourceVersion } = metadata;
      expect(await remove(configMapRef(), { uid, resourceVersion })).toBe("deleted");
    });

    test("of a namespace continues after the answer", async () => {
      const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name: space.namespace };
      expect(await remove(ref)).toBe("deleting");
    });

    test("of a kind that is not served is NoMatch", async () => {
      const error = await faultOf(
        remove({ group: "example.test", version: "v1", kind: "Widget", namespace: space.namespace, name: "a" }),
      );
      expect(error.reason).toBe("NoMatch");
    });

    const dependent = (name: string, { metadata: { name: owner, uid } }: LiveObject, reference = {}) =>
      configMap(
        name,
        {},
        {
          ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid, ...reference }],
        },
      );
    const isGone = (name: string) => get(configMapRef(name)).then((live) => live === undefined);

    test("in the background deletes dependents afterwards", async () => {
      await create(dependent("b", await create(configMap())));
      expect(await remove(configMapRef())).toBe("deleted");
      await expect.poll(() => isGone("b")).toBe(true);
    });

    test("in the foreground waits for blocking dependents", async () => {
      const owner = await create(configMap());
      const held = dependent("b", owner, { blockOwnerDeletion: true });
      await create({ ...held, metadata: { ...held.metadata, finalizers: ["example.test/held"] } });
      expect(await remove(configMapRef(), { propagation: "Foreground" })).toBe("deleting");
      await expect.poll(() => get(configMapRef("b")).then((live) => live?.metadata.deletionTimestamp)).toBeDefined();
      expect((await get(configMapRef()))?.metadata.finalizers).toEqual(["foregroundDeletion"]);
      await release("b");
      await expect.poll(() => isGone("a")).toBe(true);
      expect(await isGone("b")).toBe(true);
    });

    test("with orphan keeps dependents, without the owner reference", async () => {
      await create(dependent("b", await create(configMap())));
      await remove(configMapRef(), { propagation: "Orphan" });
      await expect.poll(() => isGone("a")).toBe(true);
      expect((await get(configMapRef("b")))?.metadata.ownerReferences).toBeUndefined();
    });

    test("of one of two owners keeps objects that both own", async () => {
      const [first, second] = [await create(configMap()), await create(configMap("other"))];
      const ofFirst = dependent("b", first).metadata.ownerReferences ?? [];
      const ofSecond = dependent("b", second).metadata.ownerReferences ?? [];
      await create(configMap("b", {}, { ownerReferences: [...ofFirst, ...ofSecond] }));
      await remove(configMapRef());
      await expect.poll(() => get(configMapRef("b")).then((live) => live?.metadata.ownerReferences)).toEqual(ofSecond);
    });

    test("of an object with a finalizer allows changes, but no new finalizer", async () => {
      await create(configMap("a", {}, { finalizers: ["example.test/held"] }));
      await remove(configMapRef());
      const patch = (body: JsonObject) =>
        space.cluster.patch(configMapRef(), { type: "merge", body }, { manager: "beta" }, signal);
      expect((await patch({ data: { k: "v" } }))["data"]).toEqual({ k: "v" });
      const error = await faultOf(patch({ metadata: { finalizers: ["example.test/held", "example.test/more"] } }));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.causes[0]).toMatchObject({ field: "metadata.finalizers", reason: "FieldValueForbidden" });
      await release("a");
      expect(await isGone("a")).toBe(true);
    });

    test("frees the name: an object created afterwards is another object", async () => {
      const first = await create(configMap());
      await remove(configMapRef());
      const second = await create(configMap());
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
      expect(await faultOf(remove(configMapRef(), { uid: first.metadata.uid }))).toMatchObject({ code: 409 });
    });

    test("of a namespace refuses new objects in it, but allows changes and deletions", async () => {
      const name = `${space.namespace}-x`;
      const ref = { group: "", version: "v1", kind: "Namespace", namespace: "", name };
      await create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
      const inside = (of: string, metadata = {}) => configMap(of, { k: "v" }, { namespace: name, ...metadata });
      await create(inside("a", { finalizers: ["example.test/held"] }));
      await remove(ref);
      const error = await faultOf(apply(inside("b")));
      expect(error).toMatchObject({ code: 403, reason: "Forbidden" });
      expect(error.message).toContain("because it is being terminated");
      expect(error.causes).toMatchObject([{ reason: "NamespaceTerminating", field: "metadata.namespace" }]);
      const held = { ...configMapRef(), namespace: name };
      const patch = (body: JsonObject) => space.cluster.patch(held, { type: "merge", body }, { manager: "b" }, signal);
      expect((await patch({ data: { k: "w" } }))["data"]).toEqual({ k: "w" });
      expect(await remove(held)).toBe("deleting");
      await patch({ metadata: { finalizers: null } });
      expect(await get(held)).toBeUndefined();
    });

    test("of a Deployment deletes its Pods and ReplicaSets", async () => {
      await apply(deployment("example.test/app:1", { replicas: 1 }));
      const owned = (group: string, kind: string) =>
        space.cluster.list({ group, version: "v1", kind, namespace: space.namespace }, signal);
      await expect.poll(() => owned("", "Pod")).toHaveLength(1);
      await remove(refOf(deployment()));
      await expect.poll(() => owned("apps", "ReplicaSet")).toEqual([]);
      await expect.poll(() => owned("", "Pod")).toEqual([]);
    });

    const release = async (name: string) => {
      const body = { metadata: { finalizers: null } };
      await space.cluster.patch(configMapRef(name), { type: "merge", body }, { manager: "beta" }, signal);
    };
  });
}
