import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Json } from "../../../lib/core/json.ts";
import { type Manifest, refOf } from "../../../lib/core/manifest.ts";
import type { Patch } from "../../../lib/core/ports/cluster.ts";
import { withinDeadline } from "../../deadline.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { faultOf } from "./fault-of.ts";
import { widgetDefinition } from "./widget-definition.ts";
import { workspace } from "./workspace.ts";

const most = 2n ** 63n - 1n;
const spec = {
  type: "object",
  properties: {
    whole: { type: "integer", format: "int64" },
    limited: { type: "integer", minimum: 3 },
    any: { type: "number" },
    either: { "x-kubernetes-int-or-string": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "integer", format: "int64" } },
    list: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id"],
      items: { type: "object", required: ["id"], properties: { id: { type: "integer", format: "int64" } } },
    },
  },
} as const;

/** Whole numbers of 64 bits keep every digit; an API server takes every other number for a double. */
export function numbersContract(start: StartCluster): void {
  describe("numbers", () => {
    const space = workspace(start);
    const { apply, get, remove, signal } = space;
    const group = `n${randomUUID().slice(0, 8)}.example.test`;
    const definition = widgetDefinition(group, {}, spec);
    const widget = (of: object, metadata = {}): Manifest => ({
      apiVersion: `${group}/v1`,
      kind: "Widget",
      metadata: { name: "a", namespace: space.namespace, ...metadata },
      spec: of,
    });

    beforeAll(async () => {
      await space.cluster.apply(definition, { manager: "alpha", force: true }, signal);
      // A definition is served some moments after it was stored.
      const first = widget({}, { name: "first", namespace: "default" });
      await vi.waitFor(() => apply(first), withinDeadline);
      await remove(refOf(first));
    });
    afterAll(async () => {
      await remove(refOf(definition));
    });

    const kept: readonly { field: string; value: Json }[] = [
      { field: "whole", value: 2n ** 53n + 1n },
      { field: "whole", value: most },
      { field: "whole", value: -(2n ** 63n) },
      { field: "limited", value: most },
      { field: "any", value: most },
      { field: "any", value: 1.2345678901234568e29 },
      { field: "any", value: 0.1 },
      { field: "any", value: -2.5e-7 },
      { field: "either", value: most },
      { field: "free", value: { a: most, b: [most - 1n, { c: 1e21 }], d: 0.30000000000000004 } },
      { field: "set", value: [most - 1n, most] },
      { field: "list", value: [{ id: most - 1n }, { id: most }] },
    ];
    test.each(kept)("$field: $value is stored as sent, and sending it again changes nothing", async (row) => {
      const { field, value } = row;
      const first = await apply(widget({ [field]: value }));
      expect(first.object["spec"]).toEqual({ [field]: value });
      const live = await get(refOf(widget({})));
      expect(live).toEqual(first.object);
      const dryRun = await apply(widget({ [field]: value }), "alpha", { dryRun: true });
      expect(dryRun.object.metadata).toEqual(live?.metadata);
      const again = await apply(widget({ [field]: value }));
      expect(again.object.metadata.resourceVersion).toBe(first.object.metadata.resourceVersion);
    });

    test("an integer beyond 64 bits is a double for the API server", async () => {
      const { object } = await apply(widget({ any: 2n ** 63n }));
      expect(object["spec"]).toEqual({ any: 2 ** 63 });
      const error = await faultOf(apply(widget({ whole: 2n ** 63n })));
      expect(error).toMatchObject({
        code: 422,
        message: expect.stringContaining(
          'spec.whole: Invalid value: "number": spec.whole in body must be of type integer: "number"',
        ),
      });
    });

    test("two integers that are the same double are two values: one change, and one conflict", async () => {
      await apply(widget({ whole: 2n ** 53n }));
      const { object } = await apply(widget({ whole: 2n ** 53n + 1n }));
      expect(object).toMatchObject({ metadata: { generation: 2 }, spec: { whole: 2n ** 53n + 1n } });
      const error = await faultOf(apply(widget({ whole: 2n ** 53n }), "beta"));
      expect(error.causes).toMatchObject([{ field: ".spec.whole", message: 'conflict with "alpha"' }]);
    });

    test("other numbers of an object keep their digits when a field is patched", async () => {
      await apply(widget({ whole: most, free: { a: most } }));
      const patch = (change: Patch) => space.cluster.patch(refOf(widget({})), change, { manager: "beta" }, signal);
      await patch({ type: "merge", body: { spec: { any: most - 2n } } });
      const added = { op: "add", path: "/spec/free/b", value: most - 3n };
      const { spec: patched } = await patch({ type: "json", body: [added] });
      expect(patched).toEqual({ whole: most, any: most - 2n, free: { a: most, b: most - 3n } });
      const items = await space.cluster.list(
        { group, version: "v1", kind: "Widget", namespace: space.namespace },
        signal,
      );
      expect(items.map((item) => item["spec"])).toEqual([patched]);
    });

    test("a watch keeps the digits", async () => {
      const query = { group, version: "v1", kind: "Widget", namespace: space.namespace };
      await apply(widget({ whole: most }));
      const stop = new AbortController();
      const watch = space.cluster.watch(query, AbortSignal.any([stop.signal, signal]));
      const { value: first } = await watch[Symbol.asyncIterator]().next();
      stop.abort();
      expect(first).toMatchObject({ type: "ADDED", object: { spec: { whole: most } } });
    });

    test("a minimum or maximum is exact beyond 53 bits too", async () => {
      const error = await faultOf(apply(widget({ limited: -most })));
      expect(error.message).toContain(
        `spec.limited: Invalid value: ${-most}: spec.limited in body should be greater than or equal to 3`,
      );
    });
  });
}
