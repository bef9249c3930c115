import { describe, expect, test } from "vitest";
import { builtinResources, builtinSchema } from "../../../src/schema/builtin-schema.ts";
import { crdSchema } from "../../../src/schema/crd-schema.ts";
import { compactTypes } from "../../../src/schema/generate-types.ts";

describe("builtinSchema", () => {
  test("follows references and keeps the properties next to them", () => {
    const pod = builtinSchema({ group: "", version: "v1", kind: "Pod" });
    const containers = pod?.properties?.["spec"]?.properties?.["containers"];
    expect(containers).toMatchObject({
      listType: "map",
      mapKeys: ["name"],
      patchStrategy: "merge",
      patchMergeKey: "name",
    });
    expect(containers?.items?.properties?.["resources"]).toMatchObject({ type: "object", default: {} });
  });

  test("stops at a type that contains itself", () => {
    const crd = builtinSchema({ group: "apiextensions.k8s.io", version: "v1", kind: "CustomResourceDefinition" });
    const schema = crd?.properties?.["spec"]?.properties?.["versions"]?.items?.properties?.["schema"];
    const own = schema?.properties?.["openAPIV3Schema"];
    expect(own?.properties?.["not"]?.properties?.["type"]).toEqual({ type: "string" });
  });

  test("knows every kind that is listed with a create verb", () => {
    const unknown = builtinResources.filter(
      (resource) => resource.verbs.includes("create") && builtinSchema(resource) === undefined,
    );
    expect(unknown).toEqual([]);
  });

  test("has no schema for a kind that is not built in", () => {
    expect(builtinSchema({ group: "example.com", version: "v1", kind: "Widget" })).toBeUndefined();
  });
});

describe("crdSchema", () => {
  test("has the metadata of every object, and the schema's own descriptions", () => {
    const schema = crdSchema({
      type: "object",
      properties: {
        spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "object" } } },
      },
    });
    expect(schema.properties?.["metadata"]?.properties?.["finalizers"]).toMatchObject({ listType: "set" });
    expect(schema.properties?.["spec"]).toMatchObject({ preserveUnknown: true });
    expect(schema.properties?.["spec"]?.properties?.["a"]).toMatchObject({ holdsUnknown: true });
  });
});

describe("compactTypes", () => {
  test("keeps only the types that kinds use, plain ones as their name", () => {
    const reference = { $ref: "#/components/schemas/io.k8s.api.core.v1.ThingSpec" };
    const gvk = { group: "", version: "v1" };
    const compact = compactTypes({
      serverVersion: "v1",
      groups: [],
      resources: {},
      schemas: {
        "io.k8s.api.core.v1.Thing": {
          type: "object",
          properties: { kind: { type: "string" }, spec: { allOf: [reference], default: {} } },
          "x-kubernetes-group-version-kind": [{ ...gvk, kind: "Thing" }],
        },
        "io.k8s.api.core.v1.ThingSpec": { type: "object", properties: { me: reference } },
        "io.k8s.api.core.v1.ThingList": {
          type: "object",
          "x-kubernetes-group-version-kind": [{ ...gvk, kind: "ThingList" }],
        },
        "io.k8s.api.core.v1.Unused": { type: "object" },
      },
    });
    expect(compact["kinds"]).toEqual({ "/v1/Thing": "core.v1.Thing" });
    expect(compact["types"]).toEqual({
      "core.v1.Thing": {
        type: "object",
        properties: { kind: "string", spec: { default: {}, ref: "core.v1.ThingSpec" } },
      },
      "core.v1.ThingSpec": { type: "object", properties: { me: "#core.v1.ThingSpec" } },
    });
  });
});
