import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, equal, formatJson, maxLongIntegers, parseJson, toJson } from "../../../lib/core/json.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";

describe("canonical JSON", () => {
  test("equal values have equal texts, and different values different ones", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(equal(toJson(a), toJson(b)));
      }),
    );
  });

  test.each([
    [[], [1]],
    [[1], [1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], { 0: 1 }],
    [[], {}],
    [{}, { a: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1 }, { a: "1" }],
    [{ a: null }, {}],
    [{ a: { b: [] } }, { a: { b: [{}] } }],
    [{ toString: 1 }, {}],
    ["a", ["a"]],
    [0, false],
    [null, "null"],
    [null, {}],
    ["1,2", [1, 2]],
  ])("%j and %j differ, in either order", (a, b) => {
    expect([equal(a, b), equal(b, a), equal(a, a), equal(b, b)]).toEqual([false, false, true, true]);
    expect(canonicalJson(a)).not.toBe(canonicalJson(b));
  });

  test("the order of keys does not matter, and an undefined field counts as unset", () => {
    expect(canonicalJson({ b: 1, a: undefined, c: [{ y: 1, x: 2 }] })).toBe('{"b":1,"c":[{"x":2,"y":1}]}');
    expect(equal({ a: undefined, b: 1 }, { b: 1 })).toBe(true);
    expect(equal({ a: 1 }, { b: 1 })).toBe(false);
  });
});

describe("JSON with integers of 64 bits", () => {
  test.each([
    { text: '{"a":9007199254740991}', value: { a: 9007199254740991 } },
    { text: '{"a":9007199254740993}', value: { a: 9007199254740993n } },
    { text: " 9007199254740993 ", value: 9007199254740993n },
    { text: '{"a":-9223372036854775808,"b":[9223372036854775807]}', value: { a: -(2n ** 63n), b: [2n ** 63n - 1n] } },
    { text: '{"a":9223372036854775808}', value: { a: 2 ** 63 } },
    { text: '{"a":1152921504606846976.0}', value: { a: 2 ** 60 } },
    { text: '{"a":1e18}', value: { a: 1e18 } },
    {
      text: '{"a":"[9007199254740993]","b":9007199254740993}',
      value: { a: "[9007199254740993]", b: 9007199254740993n },
    },
    { text: '{"a" : [ 1234567890123456789 ]}', value: { a: [1234567890123456789n] } },
  ])("$text is parsed with every digit that the API server keeps", ({ text, value }) => {
    expect(parseJson(text)).toEqual(value);
  });

  test("a text may contain this many long numbers, and no more", () => {
    const list = (count: number): string => `[${Array.from({ length: count }, () => "9007199254740993").join()}]`;
    expect(parseJson(list(maxLongIntegers))).toHaveLength(maxLongIntegers);
    expect(() => parseJson(list(maxLongIntegers + 1))).toThrow(`it has more than ${maxLongIntegers} long numbers`);
  });

  test("a field named __proto__ keeps its digits as any other", () => {
    expect(formatJson(parseJson('{"__proto__":9007199254740993}'))).toBe('{"__proto__":9007199254740993}');
  });

  test("a parsed value is written with the same digits, compact or indented", () => {
    const text = '{"a":[9007199254740993,-9223372036854775808,1,0.5],"b":{"c":9223372036854775807}}';
    expect(formatJson(parseJson(text))).toBe(text);
    expect(formatJson({ a: 9007199254740993n }, 2)).toBe('{\n  "a": 9007199254740993\n}');
    expect(canonicalJson({ b: 9007199254740993n, a: 1 })).toBe('{"a":1,"b":9007199254740993}');
    expect(canonicalJson({ a: 9007199254740992n })).not.toBe(canonicalJson({ a: 9007199254740993n }));
    expect(equal({ a: 9007199254740993n }, { a: 9007199254740993n })).toBe(true);
    expect(equal({ a: 9007199254740993n }, { a: 9007199254740994n })).toBe(false);
    expect(toJson({ a: 9007199254740993n })).toEqual({ a: 9007199254740993n });
  });

  test("a text that is not JSON and a value that JSON cannot express are refused", () => {
    expect(() => parseJson('{"a":9007199254740993')).toThrow(SyntaxError);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(() => formatJson(circle)).toThrow(TypeError);
  });

  test("every JSON value is parsed as by JSON.parse, except for integers that a double cannot represent", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(formatJson(parseJson(text))).toBe(text);
      }),
    );
  });
});

test("a secret is never printed", () => {
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

test("a work key can be parsed from its text, in a cluster named by its ARN or by another id, and other texts are refused", () => {
  const name = fc.stringMatching(/^[a-z0-9.:-]{1,40}$/);
  const arn = fc
    .tuple(fc.constantFrom("aws", "aws-cn"), fc.stringMatching(/^[0-9]{12}$/), fc.stringMatching(/^[a-z][\w-]{0,99}$/))
    .map(([partition, account, cluster]) => `arn:${partition}:eks:eu-west-1:${account}:cluster/${cluster}`);
  const cluster = fc.oneof(
    arn,
    name.filter((id) => !id.startsWith("arn:")),
  );
  const key = fc.record({ cluster, group: fc.oneof(fc.constant(""), name), kind: name, namespace: name, name });
  const texts = new Map<string, WorkKey>();
  fc.assert(
    fc.property(key, (each) => {
      const text = formatWorkKey(each);
      expect(parseWorkKey(text)).toEqual(each);
      // No two keys share a text.
      expect(texts.get(text) ?? each).toEqual(each);
      texts.set(text, each);
    }),
  );
  expect(() => parseWorkKey("a/b/c")).toThrow(/expected array to have/);
  expect(() => parseWorkKey("/g/k/ns/n")).toThrow(/Too small/);
  for (const id of [
    "a/b",
    "arn:aws:eks:eu-west-1:123456789012:cluster",
    "arn:aws:eks:eu-west-1:1:cluster/a",
    "x/arn:",
  ]) {
    expect(() => parseWorkKey(`${id}/g/k/ns/n`)).toThrow(/must be the ARN of an EKS cluster or hold no slash/);
  }
});
