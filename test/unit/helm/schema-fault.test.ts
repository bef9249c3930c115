import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { explainSchemaFault } from "../../../lib/helm/schema-fault.ts";
import type { NamedLayer } from "../../../lib/helm/values-layers.ts";

const beginning = "values don't meet the specifications of the schema(s) in the following chart(s):\n";
const configMap = (values: JsonObject): NamedLayer => ({ values, reference: { kind: "ConfigMap", name: "base" } });
const secret = (values: JsonObject, targetPath?: string): NamedLayer => ({
  values,
  reference: { kind: "Secret", name: "db", valuesKey: "password", ...(targetPath === undefined ? {} : { targetPath }) },
});
const inline = (values: JsonObject): NamedLayer => ({ values, reference: undefined });

/** The lines of this message of the validator about a chart `app`, with these layers; the last one wins. */
function explained(
  lines: readonly string[],
  layers: readonly NamedLayer[],
  { merged = Object.assign({}, ...layers.map(({ values }) => values)), keepsFormer = false } = {},
): readonly string[] {
  const message = `${beginning}app:\n${lines.join("\n")}\n`;
  const text = explainSchemaFault(message, { chart: "app", namespace: "apps", merged, layers, keepsFormer });
  expect(text.startsWith(`${beginning}app:\n`)).toBe(true);
  return text.slice(`${beginning}app:\n`.length).split("\n");
}

describe("a value that does not fit the schema of its chart", () => {
  test("is named with where it comes from: the spec, a ConfigMap and its key, or the chart", () => {
    const layers = [configMap({ color: 1, size: 1 }), inline({ size: 2 })];
    const text = ["color", "size", "weight"].map((name) => `- at '/${name}': got number, want string`);
    expect(explained(text, layers)).toEqual([
      "- at '/color': got number, want string (from ConfigMap apps/base values.yaml)",
      "- at '/size': got number, want string (from spec.values)",
      "- at '/weight': got number, want string (from the chart)",
    ]);
  });

  test("is found at an item of a list, and at a key with characters of a path", () => {
    const layers = [configMap({ hosts: ["a", 1], "a/b~c.d'e": { f: 1 } })];
    expect(
      explained(
        ["- at '/hosts/1': got number, want string", "- at '/a~1b~0c.d\\'e/f': got number, want string"],
        layers,
      ),
    ).toEqual([
      "- at '/hosts/1': got number, want string (from ConfigMap apps/base values.yaml)",
      "- at '/a~1b~0c.d\\'e/f': got number, want string (from ConfigMap apps/base values.yaml)",
    ]);
  });

  test("is one that the schema does not know: only the unknown key is looked up", () => {
    const layers = [configMap({ color: "a" }), inline({ colour: "b" })];
    expect(explained(["- at '': additional properties 'colour' not allowed"], layers)).toEqual([
      "- at '': additional properties 'colour' not allowed (from spec.values)",
    ]);
  });

  test("is looked up below the subchart whose schema it is, and global values at the root", () => {
    const layers = [configMap({ redis: { size: 1 } }), inline({ global: { zone: 1 } })];
    expect(
      explained(
        ["redis:", "- at '/size': got number, want string", "- at '/global/zone': got number, want string"],
        layers,
      ),
    ).toEqual([
      "redis:",
      "- at '/size': got number, want string (from ConfigMap apps/base values.yaml)",
      "- at '/global/zone': got number, want string (from spec.values)",
    ]);
  });

  test("is not looked for where something is missing, or the faults are in lines of their own", () => {
    const lines = [
      "- at '': missing property 'color'",
      "- at '/size': 'oneOf' failed, none matched",
      "  - at '/size': got array, want string",
    ];
    expect(explained(lines, [inline({ size: [] })])).toEqual([
      ...lines.slice(0, 2),
      "  - at '/size': got array, want string (from spec.values)",
    ]);
  });

  test("is named for the first 100 faults", () => {
    const lines = Array.from({ length: 105 }, (_, at) => `- at '/list/${at}': got number, want string`);
    const shown = explained(lines, [inline({ list: lines.map((_, at) => at) })]);
    expect(shown.slice(98)).toEqual(["- at '/list/98': got number, want string (from spec.values)", "... and 6 more"]);
  });
});

describe("a value of a Secret that does not fit the schema", () => {
  test.each([
    ["'hunter2' does not match pattern '^[a-z]+$'", "***** does not match pattern '^[a-z]+$'"],
    ["'it\\'s is not valid x: hunter2' is not valid email: missing @", "***** is not valid email"],
    ["minLength: got 7, want 12", "minLength: got *****, want 12"],
    ["value is not 'base64' encoded: illegal data at hunter2", "*****"],
    ["value must be one of 'a', 'b'", "value must be one of 'a', 'b'"],
    ["got string, want integer", "got string, want integer"],
  ])("is not quoted: %s", (told, shown) => {
    expect(explained([`- at '/password': ${told}`], [secret({ password: "hunter2" })])).toEqual([
      `- at '/password': ${shown} (from Secret apps/db password)`,
    ]);
  });

  test("is not quoted either where it may have come in another way: an import of a subchart, or a former release", () => {
    const told = ["- at '/copy': 'hunter2' does not match pattern 'x'"];
    const shown = "- at '/copy': ***** does not match pattern 'x'";
    expect(explained(told, [secret({ password: "hunter2" })])).toEqual([`${shown} (from the chart)`]);
    expect(explained(told, [inline({})], { keepsFormer: true })).toEqual([
      `${shown} (from the former release or the chart)`,
    ]);
  });

  test("hides its path too if the text of the Secret names keys, as for `a,b=c` at a targetPath", () => {
    const layers = [secret({ password: "a", hunter2: 1 }, "password")];
    expect(explained(["- at '/hunter2': got number, want string"], layers)).toEqual([
      "- at '*****': got number, want string (from Secret apps/db password)",
    ]);
    expect(explained(["- at '': additional properties 'hunter2' not allowed"], layers)).toEqual([
      "- at '*****': ***** (from Secret apps/db password)",
    ]);
  });

  test("is not quoted for a subchart of a subchart, whose name is also that of another one", () => {
    const layers = [secret({ app: { redis: { auth: "hunter2" } } }), inline({ redis: { auth: "sound" } })];
    const [, line] = explained(["redis:", "- at '/auth': 'hunter2' does not match pattern 'x'"], layers);
    expect(line).toContain("- at '/auth': ***** does not match pattern 'x'");
  });

  test("is not quoted for an item of a list of such a subchart", () => {
    const layers = [secret({ app: { redis: { hosts: ["hunter2"] } } }), inline({ redis: { hosts: ["sound"] } })];
    const [, line] = explained(["redis:", "- at '/hosts/0': 'hunter2' does not match pattern 'x'"], layers);
    expect(line).toContain("- at '/hosts/0': ***** does not match pattern 'x'");
  });

  test("is not quoted for a subchart that has the name of its chart", () => {
    const layers = [secret({ app: { auth: "hunter2" } }), inline({ auth: "sound" })];
    const [line] = explained(["- at '/auth': 'hunter2' does not match pattern 'x'"], layers);
    expect(line).toContain("- at '/auth': ***** does not match pattern 'x'");
  });

  test("hides nothing of the other values", () => {
    const layers = [secret({ password: "hunter2" }), inline({ color: "red" })];
    expect(explained(["- at '/color': 'red' does not match pattern 'x'"], layers)).toEqual([
      "- at '/color': 'red' does not match pattern 'x' (from spec.values)",
    ]);
  });
});
