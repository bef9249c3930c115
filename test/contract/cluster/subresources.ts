import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import { type Manifest, refOf } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

export function subresourcesContract(start: StartCluster): void {
  describe("subresources", () => {
    const space = workspace(start);
    const { apply, get, deployment, signal } = space;

    test("an apply to a subresource keeps the rest of the object", async () => {
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

    const status = (fields: object): Manifest => {
      const { apiVersion, kind, metadata } = deployment();
      return { apiVersion, kind, metadata, status: fields };
    };
    const condition = (type: string, value = "True") => ({
      type,
      status: value,
      reason: "Contract",
      message: "m",
    });
    const scale = (replicas: number): Manifest => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "app", namespace: space.namespace },
      spec: { replicas },
    });
    const scaleTo = (replicas: number, manager = "scaler") =>
      space.api.expect(
        {
          verb: "patch",
          method: "PATCH",
          path: `/apis/apps/v1/namespaces/${space.namespace}/deployments/app/scale`,
          query: { fieldManager: manager },
          body: { type: "application/merge-patch+json", json: { spec: { replicas } } },
          repeatable: false,
        },
        signal,
      );

    test("a status in an apply of the object itself is ignored and not owned", async () => {
      const { object } = await apply({ ...deployment(), status: { observedGeneration: 9 } });
      expect(object.metadata.managedFields?.[0]?.fieldsV1).not.toHaveProperty("f:status");
      expect(object).not.toMatchObject({ status: { observedGeneration: 9 } });
    });

    test("conditions of two managers are kept side by side", async () => {
      await apply(deployment());
      await apply(status({ conditions: [condition("One")] }), "one", { subresource: "status" });
      await apply(status({ conditions: [condition("Two")] }), "two", { subresource: "status" });
      const { object } = await apply(status({}), "one", { subresource: "status" });
      const conditions = JSON.stringify(object["status"]);
      expect(conditions).toContain('"type":"Two"');
      expect(conditions).not.toContain('"type":"One"');
    });

    test("a conflict about a status names the subresource", async () => {
      await apply(deployment());
      await apply(status({ conditions: [condition("One")] }), "one", { subresource: "status" });
      const other = status({ conditions: [condition("One", "False")] });
      const error = await faultOf(apply(other, "two", { subresource: "status" }));
      expect(error.message).toContain('conflict with "one" with subresource "status"');
    });

    test("an apply to the status of a missing object is NotFound", async () => {
      const error = await faultOf(apply(status({}), "one", { subresource: "status" }));
      expect(error).toMatchObject({ code: 404, reason: "NotFound" });
    });

    test("a status is written without raising the generation", async () => {
      const before = await apply(deployment());
      const { object } = await apply(status({ observedGeneration: 1 }), "one", { subresource: "status", force: true });
      expect(object.metadata.generation).toBe(before.object.metadata.generation);
      expect(object.metadata.resourceVersion).not.toBe(before.object.metadata.resourceVersion);
    });

    test("the manager that scales owns the replicas, and an apply of another number conflicts", async () => {
      await apply(deployment("example.test/app:1"));
      await scaleTo(1);
      const error = await faultOf(apply(deployment()));
      expect(error.message).toBe(
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas',
      );
    });

    test("an apply without replicas leaves them to the manager that scales", async () => {
      const { replicas: _replicas, ...spec } = { replicas: 0, ...toSpec(deployment()) };
      await apply({ ...deployment(), spec });
      await scaleTo(0);
      const { object } = await apply({ ...deployment("example.test/app:1"), spec });
      expect(object).toMatchObject({ spec: { replicas: 0 } });
    });

    test("a scale can be applied, and gets an owner", async () => {
      await apply(deployment());
      const path = `/apis/apps/v1/namespaces/${space.namespace}/deployments/app/scale`;
      const answer = await space.api.expect(
        {
          verb: "apply",
          method: "PATCH",
          path,
          query: { fieldManager: "scaler", force: "true" },
          body: { type: "application/apply-patch+yaml", json: scale(2) },
          repeatable: true,
        },
        signal,
      );
      expect(JSON.parse(answer.text)).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });
      const live = await get(refOf(deployment()));
      expect(live?.metadata.managedFields).toContainEqual(
        expect.objectContaining({
          manager: "scaler",
          operation: "Apply",
          subresource: "scale",
          fieldsV1: { "f:spec": { "f:replicas": {} } },
        }),
      );
    });
  });
}

function toSpec({ spec }: Manifest): JsonObject {
  return isJsonObject(spec) ? spec : {};
}
