import { describe, expect, test } from "vitest";
import { maxEnumValues, maxSchemaFaults, schemaFaults } from "../../../lib/apply/schema-faults.ts";

const schema = {
  type: "object",
  required: ["spec", "metadata"],
  properties: {
    apiVersion: { type: "string" },
    metadata: { type: "object" },
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer" },
        mode: { type: "string", enum: ["a", "b"] },
        port: { "x-kubernetes-int-or-string": true },
        tags: { type: "array", items: { type: "string" } },
        labels: { type: "object", additionalProperties: { type: "string" } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        ratio: { type: "number" },
      },
    },
  },
} as const;
const faults = (spec: object) =>
  schemaFaults({ apiVersion: "x/v1", kind: "X", metadata: { name: "a" }, spec: { ...spec } }, schema);

describe("validation of a custom resource whose definition is in the same set", () => {
  test.each([
    [
      "all right",
      { size: 1, mode: "a", port: "http", tags: ["x"], labels: { a: "b" }, free: { any: 1 }, ratio: 0.5 },
      [],
    ],
    ["null counts as unset", { size: 1, mode: null }, []],
    ["a missing field", {}, ["spec.size: is required"]],
    ["another type", { size: "1" }, ["spec.size: must be of type integer"]],
    ["a broken number", { size: 1.5 }, ["spec.size: must be of type integer"]],
    ["out of the enum", { size: 1, mode: "c" }, ['spec.mode: must be one of "a", "b"']],
    ["neither integer nor string", { size: 1, port: true }, ["spec.port: must be an integer or a string"]],
    ["an item of another type", { size: 1, tags: ["a", 2] }, ["spec.tags[1]: must be of type string"]],
    ["a value of a map", { size: 1, labels: { a: 1 } }, ["spec.labels.a: must be of type string"]],
    ["an unknown field", { size: 1, extra: 1 }, ["spec.extra: field not declared in schema"]],
  ])("%s", (_name, spec, expected) => {
    expect(faults(spec)).toEqual(expected);
  });

  test("a definition without a schema allows anything", () => {
    expect(schemaFaults({ apiVersion: "x/v1", kind: "X", spec: { a: 1 } }, { type: "object" })).toEqual([]);
  });
});

describe("limits on the faults reported for one object", () => {
  const ofModes = (values: readonly string[], modes: readonly string[]) =>
    schemaFaults(
      { apiVersion: "x/v1", kind: "X", modes },
      { properties: { modes: { type: "array", items: { type: "string", enum: values } } } },
    );
  const many = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `v${index}`);

  test("bound the number of faults", () => {
    expect(ofModes(["a"], many(maxSchemaFaults - 1))).toHaveLength(maxSchemaFaults - 1);
    expect(ofModes(["a"], many(maxSchemaFaults))).toHaveLength(maxSchemaFaults);
    expect(ofModes(["a"], many(maxSchemaFaults + 1))).toHaveLength(maxSchemaFaults);
  });

  test("bound each fault: a long enum and many values do not multiply", () => {
    const texts = ofModes(["x".repeat(200_000)], many(20_000));
    expect(texts.join().length).toBeLessThan(20_000);
  });

  test("bound the values of an enum that are checked: a longer enum is left to the API server", () => {
    expect(ofModes(many(maxEnumValues), ["no"])).toHaveLength(1);
    expect(ofModes(many(maxEnumValues + 1), ["no"])).toEqual([]);
  });
});
