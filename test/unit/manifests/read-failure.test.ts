import { load, YAMLException } from "js-yaml";
import { expect, test } from "vitest";
import { yamlFault } from "../../../lib/manifests/read-failure.ts";

function faultOf(text: string): string {
  try {
    return `no fault: ${JSON.stringify(load(text))}`;
  } catch (error) {
    if (error instanceof YAMLException) return yamlFault(error);
    throw error;
  }
}

test.each([
  "a: *hunter2",
  "a: !hunter2 b",
  "a: !hunter2!x b",
  "a: !<hunter2> b",
  "a: !hunter2^ b",
  "hunter2: 1\nhunter2: 2",
  "%TAG !hunter2! tag:x\n%TAG !hunter2! tag:y\n---\na",
  "a: b: hunter2",
  'a: "hunter2',
  "a: [hunter2",
])("a YAML error is shown without the text that it quotes: %j", (text) => {
  const fault = faultOf(text);
  expect(fault).not.toContain("hunter2");
  expect(fault).not.toContain("no fault");
});

test("an error that quotes nothing is shown unchanged", () => {
  expect(faultOf("a: b: c")).toBe("bad indentation of a mapping entry");
  expect(faultOf("? a\n: b\n  c: d")).toBe("bad indentation of a mapping entry");
});
