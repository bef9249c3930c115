import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../lib/core/canonical-json.ts";
import { equal } from "../../../lib/core/equal.ts";
import { toJson } from "../../../lib/core/json.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { formatWorkKey, parseWorkKey } from "../../../lib/core/work-key.ts";

describe("canonical JSON", () => {
  test("equal values have equal text, different values different text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(equal(toJson(a), toJson(b)));
      }),
    );
  });

  test("the order of keys does not matter, an undefined field counts as absent", () => {
    expect(canonicalJson({ b: 1, a: undefined, c: [{ y: 1, x: 2 }] })).toBe('{"b":1,"c":[{"x":2,"y":1}]}');
    expect(equal({ a: undefined, b: 1 }, { b: 1 })).toBe(true);
    expect(equal({ a: 1 }, { b: 1 })).toBe(false);
  });
});

test("a secret is not printed by anything", () => {
  const secret = new Secret("hunter2");
  const printed = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect(new Error("x", { cause: secret })),
  ];
  expect(printed.join()).not.toContain("hunter2");
  expect(secret.reveal()).toBe("hunter2");
});

test("a work key is read back from its text, and no other text is one", () => {
  const name = fc.stringMatching(/^[a-z0-9.:-]{1,40}$/);
  fc.assert(
    fc.property(name, name, name, name, (cluster, kind, namespace, object) => {
      const key = { cluster, group: "", kind, namespace, name: object };
      expect(parseWorkKey(formatWorkKey(key))).toEqual(key);
    }),
  );
  expect(() => parseWorkKey("a/b/c")).toThrow(/expected array to have/);
  expect(() => parseWorkKey("/g/k/ns/n")).toThrow(/Too small/);
});
