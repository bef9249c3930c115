import fc from "fast-check";
import { expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import { mergePatch } from "../../../lib/core/merge-patch.ts";

/** RFC 7396, section 2. */
function merged(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, Json> = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key] ?? null, value);
  }
  return result;
}

const keys = fc.constantFrom("a", "b", "c", "example.com/d");
const { object } = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
  object: fc.dictionary(keys, tie("value"), { noNullPrototype: true, maxKeys: 3 }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(0, 1, "", "text", true),
    fc.array(fc.constantFrom<Json>(0, 1, "text"), { maxLength: 2 }),
    tie("object"),
  ),
}));

test("the patch between two objects turns one into the other, and equal objects have none", () => {
  fc.assert(
    fc.property(object, object, (live, wanted) => {
      const patch = mergePatch(live, wanted);
      expect(merged(live, patch ?? {})).toEqual(wanted);
      expect(mergePatch(wanted, wanted)).toBeUndefined();
    }),
  );
});

test("null counts as unset in a merge patch", () => {
  expect(mergePatch({ a: null, c: 1 }, { b: null, c: null })).toEqual({ c: null });
});

test.each([
  ['{"data":{}}', '{"data":{"__proto__":"a"}}', '{"data":{"__proto__":"a"}}'],
  ['{"data":{"__proto__":"a"}}', '{"data":{"b":"c"}}', '{"data":{"__proto__":null,"b":"c"}}'],
  ['{"data":{"__proto__":"a"}}', '{"data":{"__proto__":"b"}}', '{"data":{"__proto__":"b"}}'],
])("a field named __proto__ is treated like any other: from %s to %s", (before, after, patch) => {
  expect(JSON.stringify(mergePatch(parsed(before), parsed(after)))).toBe(patch);
});

function parsed(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error("an object is an object");
  return value;
}
