import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { type LiveObject, type Manifest, refOf } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

/** What `metadata.managedFields` says, and what moves it. */
export function managedFieldsContract(start: StartCluster): void {
  describe("managed fields", () => {
    const space = workspace(start);
    const { apply, create, get, configMap, deployment, configMapRef, managersOf, signal } = space;

    const entriesOf = ({ metadata }: LiveObject) => metadata.managedFields ?? [];
    const merge = (body: JsonObject, manager = "editor") =>
      space.cluster.patch(configMapRef(), { type: "merge", body }, { manager }, signal);

    test("of an apply are exactly the fields that were sent", async () => {
      const { object } = await apply(deployment());
      expect(entriesOf(object)).toEqual([
        {
          manager: "alpha",
          operation: "Apply",
          apiVersion: "apps/v1",
          time: expect.any(String),
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:spec": {
              "f:replicas": {},
              "f:selector": {},
              "f:template": {
                "f:metadata": { "f:labels": { "f:app": {} } },
                "f:spec": {
                  "f:containers": { 'k:{"name":"app"}': { ".": {}, "f:name": {}, "f:image": {} } },
                },
              },
            },
          },
        },
      ]);
    });

    test("of a create contain the object's fields and its defaults", async () => {
      const entry = entriesOf(await create(deployment()))[0];
      expect(entry).toMatchObject({ manager: "alpha", operation: "Update" });
      expect(entry?.fieldsV1).toMatchObject({ "f:spec": { "f:revisionHistoryLimit": {}, "f:strategy": {} } });
    });

    test("of an update gain only the changed fields", async () => {
      await create(configMap("a", { k: "v", l: "w" }));
      const entry = entriesOf(await merge({ data: { k: "x", l: "w" } })).find(({ manager }) => manager === "editor");
      expect(entry?.fieldsV1).toEqual({ "f:data": { "f:k": {} } });
    });

    test("of an update make the updater the owner of a field", async () => {
      await apply(configMap("a", { k: "v", l: "w" }));
      const patched = await merge({ data: { k: "x" } });
      expect(entriesOf(patched).find(({ manager }) => manager === "alpha")?.fieldsV1).toEqual({
        "f:data": { "f:l": {} },
      });
      const error = await faultOf(apply(configMap("a", { k: "v", l: "w" })));
      expect(error.message).toBe('Apply failed with 1 conflict: conflict with "editor" using v1: .data.k');
    });

    test("do not change in an update that changes nothing", async () => {
      const { object } = await apply(configMap());
      expect(await merge({ data: { k: "v" } })).toEqual(object);
    });

    test("of a field that an update removed have no owner", async () => {
      await apply(configMap("a", { k: "v", l: "w" }));
      const patched = await merge({ data: { k: null } });
      expect(entriesOf(patched).map(({ fieldsV1 }) => fieldsV1)).toEqual([{ "f:data": { "f:l": {} } }]);
      expect((await apply(configMap("a", { k: "x", l: "w" }), "beta")).object["data"]).toEqual({ k: "x", l: "w" });
    });

    test("of one name are separate for applies and updates", async () => {
      await create(configMap());
      const error = await faultOf(apply(configMap("a", { k: "w" })));
      expect(error.message).toBe('Apply failed with 1 conflict: conflict with "alpha" using v1: .data.k');
      expect(managersOf((await apply(configMap())).object)).toEqual(["alpha Apply", "alpha Update"]);
    });

    test("are removed by a patch that clears them, and the next apply attributes all fields to before the first apply", async () => {
      await apply(configMap("a", { k: "v", l: "w" }));
      expect(managersOf(await merge({ metadata: { managedFields: [{}] } }))).toEqual([]);
      const { object } = await apply(configMap("a", { k: "v" }), "beta");
      expect(object["data"]).toEqual({ k: "v", l: "w" });
      expect(managersOf(object)).toEqual(["before-first-apply Update", "beta Apply"]);
    });

    test("in an applied object are refused", async () => {
      const error = await faultOf(apply(configMap("a", {}, { managedFields: [] })));
      expect(error).toMatchObject({ code: 400, reason: "BadRequest", message: "metadata.managedFields must be nil" });
    });

    test("name the subresource that was written", async () => {
      await apply(deployment());
      // What the cluster's own controllers may have written meanwhile would be no change.
      const patch = { type: "merge", body: { status: { conditions: [{ type: "Noted", status: "True" }] } } } as const;
      const options = { manager: "controller", subresource: "status" };
      const patched = await space.cluster.patch(refOf(deployment()), patch, options, signal);
      expect(entriesOf(patched).find(({ manager }) => manager === "controller")).toMatchObject({
        operation: "Update",
        subresource: "status",
      });
    });

    test("follow a manager from one version of a kind to another", async () => {
      const autoscaler = (version: string, spec: object): Manifest => ({
        apiVersion: `autoscaling/${version}`,
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "a", namespace: space.namespace },
        spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "app" }, ...spec },
      });
      await apply(autoscaler("v1", { minReplicas: 2, maxReplicas: 3 }));
      const { object } = await apply(autoscaler("v2", { maxReplicas: 3 }));
      // The cluster's own controllers may have written its status meanwhile.
      const specEntries = entriesOf(object).filter(({ subresource }) => subresource === undefined);
      expect(specEntries).toMatchObject([{ manager: "alpha", operation: "Apply", apiVersion: "autoscaling/v2" }]);
      // What is no longer sent goes back to its default.
      expect(object["spec"]).toMatchObject({ minReplicas: 1 });
    });

    test("of a name that is too long are refused", async () => {
      const error = await faultOf(apply(configMap(), "m".repeat(129)));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.message).toContain("fieldManager: Too long: may not be more than 128 bytes");
      expect(await get(configMapRef())).toBeUndefined();
    });
  });
}
