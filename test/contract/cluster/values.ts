import { describe, expect, test } from "vitest";
import { type Manifest, refOf } from "../../../lib/core/manifest.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { workspace } from "./workspace.ts";

/** What becomes of null, empty, written in another way, left out, and unchangeable values. */
export function valuesContract(start: StartCluster): void {
  describe("values under server-side apply", () => {
    const space = workspace(start);
    const { apply, get, configMap, deployment, managersOf } = space;

    const container = (fields: object): Manifest =>
      deployment("", {
        template: {
          metadata: { labels: { app: "app" } },
          spec: { containers: [{ name: "app", image: "example.test/app:1", ...fields }] },
        },
      });
    const withLimits = (limits: object) => container({ resources: { limits } });
    const firstContainer = (fields: object) => ({ spec: { template: { spec: { containers: [fields] } } } });
    const secret = (fields: object): Manifest => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a", namespace: space.namespace },
      ...fields,
    });

    test("null in a map of texts is stored as an empty text and owned", async () => {
      const manifest = { ...configMap(), data: { k: null } };
      const { object } = await apply(manifest);
      expect(object["data"]).toEqual({ k: "" });
      expect(object.metadata.managedFields?.[0]?.fieldsV1).toEqual({ "f:data": { "f:k": {} } });
    });

    test("null for an optional field keeps its default", async () => {
      const { object } = await apply(deployment("example.test/app:1", { revisionHistoryLimit: null }));
      expect(object).toMatchObject({ spec: { revisionHistoryLimit: 10 } });
    });

    test("an empty map is owned, and conflicts with another manager's entries", async () => {
      await apply(configMap("a", {}));
      const error = await faultOf(apply(configMap("a", { k: "v" }), "beta"));
      expect(error.causes).toMatchObject([{ field: ".data", message: 'conflict with "alpha"' }]);
    });

    test("an apply of only a name owns nothing and changes nothing", async () => {
      const { apiVersion, kind, metadata } = configMap();
      const { object, created } = await apply({ apiVersion, kind, metadata });
      expect(created).toBe(true);
      expect(managersOf(object)).toEqual([]);
      await apply(configMap(), "beta");
      expect((await apply({ apiVersion, kind, metadata })).object["data"]).toEqual({ k: "v" });
    });

    test.each([
      ["1000m", "1"],
      ["0.5", "500m"],
      [2, "2"],
    ])(
      "a quantity of %j is stored as %j, and the same value in another notation changes nothing",
      async (given, stored) => {
        const first = await apply(withLimits({ cpu: given }));
        expect(first.object).toMatchObject(firstContainer({ resources: { limits: { cpu: stored } } }));
        const second = await apply(withLimits({ cpu: stored }));
        expect(second.object.metadata.generation).toBe(1);
      },
    );

    test("an invalid quantity is refused", async () => {
      const error = await faultOf(apply(withLimits({ cpu: "much" })));
      expect(error.code).toBe(500);
      expect(error.message).toContain("quantities must match the regular expression");
    });

    test("equal quantities in different notations conflict between two managers", async () => {
      await apply(withLimits({ cpu: "1000m" }));
      const { apiVersion, kind, metadata } = deployment();
      const other = {
        apiVersion,
        kind,
        metadata,
        ...firstContainer({ name: "app", resources: { limits: { cpu: "1000m" } } }),
      };
      const error = await faultOf(apply(other, "beta"));
      expect(error.causes).toMatchObject([
        { field: '.spec.template.spec.containers[name="app"].resources.limits.cpu' },
      ]);
    });

    test("a number or a text keeps its type", async () => {
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } };
      const { object } = await apply(deployment("example.test/app:1", { strategy }));
      expect(object).toMatchObject({ spec: { strategy } });
    });

    test("a text in place of a number is refused, whatever the field validation is", async () => {
      const wrong = deployment("example.test/app:1", { replicas: "two" });
      const error = await faultOf(apply(wrong, "alpha", { fieldValidation: "Ignore" }));
      expect(error).toMatchObject({ code: 500, reason: "" });
      expect(error.message).toContain(".spec.replicas: expected numeric");
    });

    test("a default has no owner, can be owned by any manager, and comes back", async () => {
      await apply(deployment());
      const given = await apply(deployment("example.test/app:1", { revisionHistoryLimit: 3 }), "alpha");
      expect(given.object).toMatchObject({ spec: { revisionHistoryLimit: 3 } });
      const left = await apply(deployment());
      expect(left.object).toMatchObject({ spec: { revisionHistoryLimit: 10 } });
    });

    test("a default that conflicts with an applied field must be resolved by the client", async () => {
      await apply(deployment());
      const error = await faultOf(apply(deployment("example.test/app:1", { strategy: { type: "Recreate" } })));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.message).toContain("spec.strategy.rollingUpdate: Forbidden");
    });

    test("a Secret's stringData becomes data, and a key that is no longer sent stays", async () => {
      await apply(secret({ stringData: { a: "1", b: "2" } }));
      const { object } = await apply(secret({ stringData: { a: "3" } }));
      expect(object["data"]).toEqual({ a: "Mw==", b: "Mg==" });
      expect(object["stringData"]).toBeUndefined();
    });

    test("a Secret's data that is not base64 is refused", async () => {
      const error = await faultOf(apply(secret({ data: { a: "?" } })));
      expect(error.code).toBe(500);
      expect(error.message).toContain("illegal base64 data");
    });

    test("a Secret's type is immutable", async () => {
      await apply(secret({ type: "Opaque" }));
      const error = await faultOf(apply(secret({ type: "example.test/other" })));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "type" }]);
    });

    test("an immutable ConfigMap accepts changed labels but no changed data, and stays immutable", async () => {
      await apply({ ...configMap(), immutable: true });
      const labelled = { ...configMap("a", { k: "v" }, { labels: { a: "b" } }), immutable: true };
      expect((await apply(labelled)).object.metadata.labels).toEqual({ a: "b" });
      const changed = await faultOf(apply({ ...configMap("a", { k: "w" }), immutable: true }));
      expect(changed.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "data" }]);
      const released = await faultOf(apply(configMap()));
      expect(released.causes).toMatchObject([{ reason: "FieldValueForbidden", field: "immutable" }]);
    });

    test("a Job's template is immutable", async () => {
      const job = (image: string): Manifest => ({
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: "a", namespace: space.namespace },
        spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image }] } } },
      });
      await apply(job("example.test/a:1"));
      // The server prints the whole template, so its end alone is looked at.
      const error = await faultOf(apply(job("example.test/a:2")));
      expect(error.causes).toMatchObject([{ reason: "FieldValueInvalid", field: "spec.template" }]);
      expect(error.message).toMatch(/field is immutable$/);
    });

    test("a Service's cluster IP cannot change once it is set", async () => {
      const service = (clusterIP?: string): Manifest => ({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "a", namespace: space.namespace },
        spec: { ports: [{ port: 80 }], ...(clusterIP === undefined ? {} : { clusterIP }) },
      });
      const { object } = await apply(service());
      expect((await get(refOf(service())))?.["spec"]).toEqual(object["spec"]);
      const error = await faultOf(apply(service("10.0.255.1")));
      expect(error.message).toContain("may not change once set");
    });
  });
}
