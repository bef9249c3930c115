import { describe, expect, test } from "vitest";
import type { ApiObject, ManagedFields } from "../../../src/core/api-object.ts";
import { trackUpdate } from "../../../src/fields/track-update.ts";
import { crdSchema } from "../../../src/schema/crd-schema.ts";

const schema = crdSchema({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      },
    },
  },
});
const older = crdSchema({
  type: "object",
  properties: { spec: { type: "object", properties: { tags: { type: "array" } } } },
});

function widget(spec: ApiObject): ApiObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" }, spec };
}

function entry(apiVersion: string): ManagedFields[number] {
  return {
    manager: "alpha",
    operation: "Apply",
    apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:tags": { 'v:"x"': {} } } },
  };
}

function track(before: ApiObject | undefined, after: ApiObject, managedFields: ManagedFields): ManagedFields {
  return trackUpdate({
    before,
    after,
    managedFields,
    manager: "editor",
    apiVersion: "example.com/v1",
    schema,
    now: "2026-01-01T00:00:00Z",
    isBuiltin: false,
    versions: {
      schemaOf: (apiVersion) => (apiVersion === "example.com/v0" ? older : schema),
      convert: (object, apiVersion) => ({ ...object, apiVersion }),
    },
  });
}

describe("trackUpdate", () => {
  test("a change moves the field to the writer's entry and out of the former owner's", () => {
    const tracked = track(widget({ size: 1, tags: ["x"] }), widget({ size: 2 }), [entry("example.com/v1")]);
    expect(tracked).toEqual([
      expect.objectContaining({ manager: "editor", operation: "Update", fieldsV1: { "f:spec": { "f:size": {} } } }),
    ]);
  });

  test("an object without managers stays without", () => {
    expect(track(widget({ size: 1 }), widget({ size: 2 }), [])).toEqual([]);
  });

  test("items that cannot be told apart keep their managers", () => {
    const managedFields = [entry("example.com/v1")];
    expect(track(widget({ size: 1 }), widget({ tags: [null] }), managedFields)).toEqual(managedFields);
  });

  test("managers whose version does not know a field are dropped, and the update continues", () => {
    expect(track(widget({ tags: ["x"] }), widget({ size: 2 }), [entry("example.com/v0")])).toEqual([]);
  });
});
