import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { validateCustom } from "../../../src/rules/validate-custom.ts";

function errorsOf(property: JsonObject, value: Json, old?: Json): readonly string[] {
  const openAPIV3Schema = { type: "object", properties: { spec: property } };
  const object = (spec: Json): JsonObject => ({ metadata: { name: "a", namespace: "x" }, spec });
  const before = old === undefined ? undefined : object(old);
  return validateCustom({ object: object(value), old: before, openAPIV3Schema, namespaced: true }).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

describe("the schema of a custom resource", () => {
  test.each<readonly [string, JsonObject, Json, readonly string[]]>([
    [
      "a wrong type",
      { type: "integer" },
      "x",
      ['spec: Invalid value: "string": spec in body must be of type integer: "string"'],
    ],
    ["null", { type: "string" }, null, ['spec: Invalid value: "null": spec in body must be of type string: "null"']],
    ["null that may be", { type: "string", nullable: true }, null, []],
    [
      "an int-or-string",
      { "x-kubernetes-int-or-string": true },
      true,
      ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
    ],
    [
      "an exclusive minimum",
      { type: "integer", minimum: 1, exclusiveMinimum: true },
      1,
      ["spec: Invalid value: 1: spec in body should be greater than 1"],
    ],
    [
      "a short text",
      { type: "string", minLength: 2 },
      "é",
      ['spec: Invalid value: "é": spec in body should be at least 2 chars long'],
    ],
    [
      "a short list",
      { type: "array", minItems: 1, items: { type: "string" } },
      [],
      ["spec: Invalid value: 0: spec in body should have at least 1 items"],
    ],
    [
      "a field of a list item",
      { type: "array", items: { type: "object", required: ["a"], properties: { a: { type: "string" } } } },
      [{}],
      ["spec[0].a: Required value"],
    ],
    [
      "a set with doubles",
      { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      ["a", "a"],
      ['spec[1]: Duplicate value: "a"'],
    ],
    [
      "none of two shapes",
      { type: "object", properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      {},
      ['spec: Invalid value: {}: "spec" must validate at least one schema (anyOf)'],
    ],
  ])("refuses %s with the server's text", (_, schema, value, errors) => {
    expect(errorsOf(schema, value)).toEqual(errors);
  });
});

describe("x-kubernetes-validations", () => {
  const ruled = (rule: JsonObject, type = "object"): JsonObject => ({
    type,
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [rule],
  });

  test.each<readonly [string, Json, boolean]>([
    ["has(self.a) || has(self.b)", { b: 1 }, true],
    ["has(self.a) && !has(self.b)", { a: 1, b: 1 }, false],
    ["self.a.b == 1 || has(self.c)", { c: 1 }, true],
    ["size(self.name) <= 3 && self.name.startsWith('x')", { name: "xyz" }, true],
    ["self.name in ['a', 'b']", { name: "c" }, false],
    ["'k' in self.labels", { labels: { k: "v" } }, true],
    ["self.list.all(x, x > 0)", { list: [1, 2] }, true],
    ["self.list.exists(x, x == 3)", { list: [1, 2] }, false],
    ["self.list.filter(x, x > 1).size() == 1", { list: [1, 2] }, true],
    ["self.list.map(x, x * 2) == [2, 4]", { list: [1, 2] }, true],
    ["self.url.matches('^https?://')", { url: "ftp://x" }, false],
    ["self.min <= self.max ? true : self.forced", { min: 2, max: 1, forced: true }, true],
    ["7 / 2 == 3 && 7 % 2 == 1 && -self.n == 1", { n: -1 }, true],
    ["duration(self.a) < duration('1h')", { a: "59m" }, true],
    ["quantity(self.a).isGreaterThan(quantity('1Gi'))", { a: "2048Mi" }, true],
    ["self.x__dash__y == 'z'", { "x-y": "z" }, true],
    ["!(self.a == null) // said", { a: null }, false],
    ['self.a == "it\\"s"', { a: 'it"s' }, true],
  ])("%s of %j is %s", (rule, value, holds) => {
    expect(errorsOf(ruled({ rule, message: "no" }), value)).toEqual(holds ? [] : ["spec: Invalid value: no"]);
  });

  test("a rule without a message shows its expression, and a computed message takes precedence", () => {
    expect(errorsOf(ruled({ rule: "self.a > 1" }), { a: 1 })).toEqual(["spec: Invalid value: failed rule: self.a > 1"]);
    const computed = { rule: "self.a > 1", message: "no", messageExpression: "'a is ' + string(self.a)" };
    expect(errorsOf(ruled(computed), { a: 1 })).toEqual(["spec: Invalid value: a is 1"]);
  });

  test("a transition rule is not evaluated for a new object", () => {
    const fixed = { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed" }] };
    expect(errorsOf(fixed, "a")).toEqual([]);
    expect(errorsOf(fixed, "b", "a")).toEqual(['spec: Invalid value: "b": fixed']);
  });

  test("reason and fieldPath appear in the error", () => {
    const rule = { rule: "has(self.b)", message: "b it must be", reason: "FieldValueRequired", fieldPath: ".b" };
    expect(errorsOf(ruled(rule), {})).toEqual(["spec.b: Required value: b it must be"]);
  });

  test("are not evaluated for an object of the wrong shape, and the answer says so", () => {
    const schema = { ...ruled({ rule: "self.a > 1" }), required: ["b"] };
    expect(errorsOf(schema, { a: 1 })).toEqual([
      "spec.b: Required value",
      "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    ]);
  });

  test("a rule that fails to evaluate is an error, not a pass", () => {
    expect(errorsOf(ruled({ rule: "self.a.b > 1" }), { a: {} })).toEqual([
      "spec: Invalid value: no such key: b evaluating rule: failed rule: self.a.b > 1",
    ]);
  });
});
