import { load, YAMLException } from "js-yaml";
import { expect, test } from "vitest";
import { goYamlFault } from "../../../lib/manifests/go-yaml/go-yaml-fault.ts";

function faultOf(text: string): string | undefined {
  try {
    load(text);
  } catch (error) {
    if (error instanceof YAMLException) return goYamlFault(error, text);
    throw error;
  }
  throw new Error("it is YAML");
}

test.each([
  ["a: b: c\n", "mapping values are not allowed in this context"],
  ["a: 1\nb: @x\n", "line 2: found character that cannot start any token"],
  ["a: [1,\n", "line 1: did not find expected node content"],
  ["a: 1\n'a b': 2\n'a b': 3\n", 'unmarshal errors:\n  line 3: key "a b" already set in map'],
  // Its words are not known.
  ["a: 'x\n", undefined],
])("the fault of %j is, in go-yaml's words, %j", (text, words) => {
  expect(faultOf(text)).toBe(words);
});
