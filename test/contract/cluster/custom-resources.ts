import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Manifest, refOf } from "../../../lib/core/manifest.ts";
import { withinDeadline } from "../../deadline.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { follow } from "./follow.ts";
import { justUnderStoreLimit, storeLimit } from "./transport.ts";
import { widgetDefinition } from "./widget-definition.ts";
import { workspace } from "./workspace.ts";

const text = { type: "string" } as const;
const spec = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    name: { type: "string", pattern: "^[a-z]+$", maxLength: 5 },
    color: { type: "string", enum: ["red", "blue"] },
    fixed: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is immutable" }] },
    min: { type: "integer" },
    max: { type: "integer" },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id"],
      items: {
        type: "object",
        required: ["id"],
        properties: { id: text, weight: { type: "integer", default: 7 }, note: text },
      },
    },
    tags: { type: "array", "x-kubernetes-list-type": "set", items: text },
    list: { type: "array", items: text },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    percent: { "x-kubernetes-int-or-string": true },
    nested: { type: "object", default: {}, properties: { on: { type: "boolean", default: true } } },
  },
  "x-kubernetes-validations": [
    { rule: "!has(self.min) || !has(self.max) || self.min <= self.max", message: "min must not be above max" },
  ],
} as const;

/** What a definition makes of its objects: defaults, pruning, validation, list types, status. */
export function customResourcesContract(start: StartCluster): void {
  describe("custom resources", () => {
    const space = workspace(start);
    const { apply, create, get, remove, managersOf, signal } = space;
    const group = `c${randomUUID().slice(0, 8)}.example.test`;
    const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const definition = widgetDefinition(
      group,
      {
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
      },
      spec,
    );
    const widget = (of: object = {}, metadata = {}): Manifest => ({
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name: "a", namespace: space.namespace, ...metadata },
      spec: of,
    });

    beforeAll(async () => {
      await space.cluster.apply(definition, { manager: "alpha", force: true }, signal);
      // A definition is served some moments after it was stored.
      const first = { ...widget(), metadata: { name: "first", namespace: "default" } };
      await vi.waitFor(() => apply(first), withinDeadline);
      await remove(refOf(first));
    });
    afterAll(async () => {
      await remove(refOf(definition));
    });

    test("of one and a half megabytes are served, and slightly larger ones refused", async () => {
      const { object } = await apply(widget({ list: ["x".repeat(justUnderStoreLimit)] }));
      expect(await get(refOf(widget()))).toEqual(object);
      const error = await faultOf(apply(widget({ list: ["x".repeat(storeLimit)] })));
      expect(error).toMatchObject({ code: 500, message: "etcdserver: request is too large" });
      expect(await get(refOf(widget()))).toEqual(object);
    });

    test("get the defaults of their definition, which have no owner", async () => {
      const { object } = await apply(widget({ name: "abc" }));
      expect(object["spec"]).toEqual({ name: "abc", size: 3, nested: { on: true } });
      expect(object.metadata.managedFields?.[0]?.fieldsV1).toEqual({ "f:spec": { "f:name": {} } });
    });

    test("with a field that the definition does not know are refused in an apply", async () => {
      const error = await faultOf(apply(widget({ unknown: 1 })));
      expect(error).toMatchObject({ code: 500, reason: "" });
      expect(error.message).toContain(".spec.unknown: field not declared in schema");
    });

    test("lose unknown fields when they are created or patched", async () => {
      expect((await create(widget({ unknown: 1 })))["spec"]).toEqual({ size: 3, nested: { on: true } });
      const body = { spec: { other: 2 } };
      const patched = await space.cluster.patch(refOf(widget()), { type: "merge", body }, { manager: "beta" }, signal);
      expect(patched["spec"]).toEqual({ size: 3, nested: { on: true } });
    });

    test("keep unknown fields if the definition preserves them, with an owner for each", async () => {
      await apply(widget({ free: { a: { b: 1 } } }));
      const { object } = await apply(widget({ free: { a: { c: [1, { d: 2 }] } } }), "beta");
      expect(object["spec"]).toMatchObject({ free: { a: { b: 1, c: [1, { d: 2 }] } } });
      const error = await faultOf(apply(widget({ free: { a: { b: 2 } } }), "beta"));
      expect(error.causes).toMatchObject([{ field: ".spec.free.a.b" }]);
    });

    test.each([
      ["spec.size", { size: 10 }, "FieldValueInvalid", "should be less than or equal to 9"],
      ["spec.name", { name: "ABC" }, "FieldValueInvalid", "should match '^[a-z]+$'"],
      ["spec.name", { name: "ABCDEF" }, "FieldValueTooLong", "may not be more than 5 bytes"],
      ["spec.color", { color: "green" }, "FieldValueNotSupported", 'supported values: "red", "blue"'],
      ["spec", { min: 2, max: 1 }, "FieldValueInvalid", "min must not be above max"],
    ])("with a bad %s, %j, are invalid: %s", async (field, of, reason, message) => {
      const error = await faultOf(apply(widget(of)));
      expect(error).toMatchObject({ code: 422, reason: "Invalid" });
      expect(error.causes).toContainEqual({ field, reason, message: expect.stringContaining(message) });
      // What else is told is of rules that could not be looked at, and not of the field.
      expect(error.causes.filter((cause) => cause.field === field)).toHaveLength(1);
    });

    test("must obey transition rules about the old value", async () => {
      await apply(widget({ fixed: "x" }));
      const error = await faultOf(apply(widget({ fixed: "y" })));
      expect(error.causes).toMatchObject([{ field: "spec.fixed" }]);
      expect(error.message).toContain("fixed is immutable");
    });

    test("merge their lists as the definition says: by key, as a set, or whole", async () => {
      await apply(widget({ ports: [{ id: "x", note: "n" }], tags: ["a", "b"], list: ["1"] }));
      const { object } = await apply(widget({ ports: [{ id: "y" }], tags: ["c", "a"] }), "beta");
      expect(object["spec"]).toMatchObject({
        ports: [
          { id: "x", note: "n", weight: 7 },
          { id: "y", weight: 7 },
        ],
        tags: ["c", "a", "b"],
      });
      const error = await faultOf(apply(widget({ list: ["1", "2"] }), "beta"));
      expect(error.causes).toMatchObject([{ field: ".spec.list" }]);
    });

    test.each([
      ["one key twice", { ports: [{ id: "x" }, { id: "x" }] }, 'duplicate entries for key [id="x"]'],
      ["a duplicate value in a set", { tags: ["a", "a"] }, "duplicate entries for key"],
      ["no key", { ports: [{ note: "x" }] }, 'omits all key fields ["id"]'],
    ])("with %s in one apply are refused", async (_, of, message) => {
      const error = await faultOf(apply(widget(of)));
      expect(error).toMatchObject({ code: 500, reason: "" });
      expect(error.message).toContain(message);
    });

    test("accept a number or a text if the definition allows both, and no fraction", async () => {
      expect((await apply(widget({ percent: "5%" }))).object["spec"]).toMatchObject({ percent: "5%" });
      expect((await apply(widget({ percent: 5 }))).object["spec"]).toMatchObject({ percent: 5 });
      expect(await faultOf(apply(widget({ percent: true })))).toMatchObject({ code: 422, reason: "Invalid" });
    });

    test("have a generation that rises with the spec and not with metadata or status", async () => {
      const made = await apply(widget({ size: 1 }));
      const labelled = await apply(widget({ size: 1 }, { labels: { a: "b" } }));
      const body = { status: { phase: "x" } };
      const options = { manager: "controller", subresource: "status" };
      const reported = await space.cluster.patch(refOf(widget()), { type: "merge", body }, options, signal);
      const changed = await apply(widget({ size: 2 }));
      const generations = [made.object, labelled.object, reported, changed.object].map(
        ({ metadata }) => metadata.generation,
      );
      expect(generations).toEqual([1, 1, 1, 2]);
      expect(changed.object["status"]).toEqual({ phase: "x" });
    });

    test("do not write their status with their spec, nor their spec with their status", async () => {
      await apply({ ...widget({ size: 1 }), status: { phase: "spec" } });
      const { object } = await apply({ ...widget({ size: 9 }), status: { phase: "x" } }, "beta", {
        subresource: "status",
      });
      expect(object).toMatchObject({ spec: { size: 1 }, status: { phase: "x" } });
      expect(managersOf(object)).toEqual(["alpha Apply", "beta Apply"]);
    });

    test("have no named owner for fields from before the first apply", async () => {
      await create(widget({ size: 1 }));
      const body = { metadata: { managedFields: [{}] } };
      await space.cluster.patch(refOf(widget()), { type: "merge", body }, { manager: "beta" }, signal);
      const { object } = await apply(widget({ size: 1 }), "beta");
      expect(managersOf(object)).toEqual(["before-first-apply Update", "beta Apply"]);
    });

    test("can be watched, including their deletion", async () => {
      const query = { group, version: "v1", kind: "Widget", namespace: space.namespace };
      using events = follow(space.cluster, query);
      await events.initialEnd();
      await apply(widget({ size: 2 }));
      expect(await events.next()).toMatchObject({ type: "ADDED", object: { kind: "Widget" } });
      await remove(refOf(widget()));
      expect(await events.next()).toMatchObject({ type: "DELETED", object: { spec: { size: 2 } } });
      expect(await get(refOf(widget()))).toBeUndefined();
    });
  });
}
