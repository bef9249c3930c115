import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function refusalsContract(start: StartCluster): void {
  describe("server-side apply", () => {
    const space = workspace(start);
    const { apply, get, configMap, deployment, configMapRef } = space;

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

    test("of a changed selector is refused, because it is immutable", async () => {
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

    test("of an owner reference to an Event is refused", async () => {
      const ownerReferences = [{ apiVersion: "v1", kind: "Event", name: "x", uid: randomUUID() }];
      const error = await faultOf(apply(configMap("a", { k: "v" }, { ownerReferences })));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.message).toContain("/v1, Kind=Event is disallowed from being an owner");
    });

    test("in a missing namespace is NotFound, naming the namespace", async () => {
      const error = await faultOf(apply({ ...configMap(), metadata: { name: "a", namespace: "contract-nowhere" } }));
      expect(error).toMatchObject({ code: 404, reason: "NotFound" });
      expect(error.message).toBe('namespaces "contract-nowhere" not found');
    });

    test("of a namespaced kind without a namespace is refused", async () => {
      const error = await faultOf(apply({ ...configMap(), metadata: { name: "a" } }));
      expect(error).toMatchObject({ code: 400, reason: "BadRequest" });
      expect(error.message).toContain("ConfigMap/a has no namespace");
    });

    test("with an outdated resourceVersion is a conflict, even with force", async () => {
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

    test("without a field manager is refused", async () => {
      const error = await faultOf(apply(configMap(), ""));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
    });
  });
}
