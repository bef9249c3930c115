import { constructFromEvents, type Event, parseEvents, YAMLException } from "js-yaml";
import { expect, test } from "vitest";
import { goSchema } from "../../../lib/manifests/go-yaml/go-schema.ts";
import { goYamlFault } from "../../../lib/manifests/go-yaml/go-yaml-fault.ts";

function faultOf(text: string): string | undefined {
  let events: Event[] = [];
  try {
    events = parseEvents(text, {});
    constructFromEvents(events, { source: text, schema: goSchema });
  } catch (error) {
    if (error instanceof YAMLException) return goYamlFault(error, text, events);
    throw error;
  }
  throw new Error("it is YAML");
}

test.each([
  ["a: b: c\n", "mapping values are not allowed in this context"],
  ["a: 1\nb: @x\n", "line 2: found character that cannot start any token"],
  ["a: [1,\n", "line 1: did not find expected node content"],
  ["a: [\n\n\n", "line 3: did not find expected node content"],
  ["a: {b:\n", "line 1: did not find expected node content"],
  ["a: [b\n", "line 1: did not find expected ',' or ']'"],
  ["a: [b", "line 1: did not find expected ',' or ']'"],
  ["a: {b: c\n", "line 1: did not find expected ',' or '}'"],
  ["a: {b: c", "line 1: did not find expected ',' or '}'"],
  ["a: {b\n", "line 1: did not find expected ',' or '}'"],
  ["a: {b: [c]\n", "line 1: did not find expected ',' or '}'"],
  ['{"a":"v1"', "line 1: did not find expected ',' or '}'"],
  ['a: {b: "c"\n', "line 1: did not find expected ',' or '}'"],
  ['{"apiVersion":"v1","entries":{"app":[{"name":"app"', "line 1: did not find expected ',' or '}'"],
  ["a: 1\n'a b': 2\n'a b': 3\n", 'unmarshal errors:\n  line 3: key "a b" already set in map'],
  // go-yaml names the lines of the values, and lists all keys in the order in which their values end.
  ["a: 1\na:\n\n\n  b: 1\n", 'unmarshal errors:\n  line 5: key "a" already set in map'],
  ["a: 1\n? a\n: 2\n", 'unmarshal errors:\n  line 3: key "a" already set in map'],
  ["a: 1\na: |\n\n  x\n", 'unmarshal errors:\n  line 2: key "a" already set in map'],
  ["a: 1\nb: 2\na:\n\n# x\nc: 3\n", 'unmarshal errors:\n  line 3: key "a" already set in map'],
  ["a: 1\na: &q\n  - x\n", 'unmarshal errors:\n  line 2: key "a" already set in map'],
  ["b: &b\n  x: 1\na: 1\na: *b\n", 'unmarshal errors:\n  line 4: key "a" already set in map'],
  [
    "x: {a: 1, a: 2}\nx: {b: 1, b: \n 2}\n",
    'unmarshal errors:\n  line 1: key "a" already set in map\n  line 3: key "b" already set in map\n  line 2: key "x" already set in map',
  ],
  ["0x10: 1\n16: 2\n", "unmarshal errors:\n  line 2: key 16 already set in map"],
  [
    "true: 1\nyes: 2\ntrue: 3\n",
    "unmarshal errors:\n  line 2: key true already set in map\n  line 3: key true already set in map",
  ],
  // Its words are not known.
  ['"\\a": 1\n"\\a": 2\n', undefined],
  ["a: 'x\n", undefined],
  ["a: ['x\n", undefined],
  ["a: [b # ,\n", undefined],
  ["a: [&b\n", undefined],
])("the fault of %j is, in go-yaml's words, %j", (text, words) => {
  expect(faultOf(text)).toBe(words);
});

test("of many keys that are there twice, the first 100 are named", () => {
  const lines = faultOf("a: 1\n".repeat(3_000))?.split("\n") ?? [];
  expect([lines.length, lines.at(-1)]).toEqual([101, '  line 101: key "a" already set in map']);
});
