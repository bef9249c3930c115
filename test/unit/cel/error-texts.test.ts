import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type Cel, CelFault, JsonText } from "../../../lib/cel/cel.ts";
import type { Json } from "../../../lib/core/json.ts";
import { unhurriedCel } from "../../doubles/unhurried-cel.ts";

const forever = new AbortController().signal;
const cel = unhurriedCel();
afterAll(() => cel.close());

/** What no message may have, in all the ways that an object can hold it. */
const secret = "hunter2";
const secretNumber = 987654321;
const guarded = {
  text: secret,
  number: secretNumber,
  half: secretNumber + 0.5,
  encoded: Buffer.from(secret).toString("base64"),
  list: [secret, secretNumber],
  map: { [secret]: secretNumber, known: secret },
  time: "2026-01-02T03:04:05Z",
} satisfies Json;
const told = /hunter2|aHVudGVyM|98765432|9\.8765/;

/** Expressions that read the object, in forms that often have no result. */
const { expression } = fc.letrec<{ expression: string; value: string }>((tie) => {
  const value = tie("value");
  const form = (...parts: readonly string[]): fc.Arbitrary<string> =>
    fc.tuple(...parts.slice(1).map(() => value)).map((values) => parts.reduce((a, b, at) => a + values[at - 1] + b));
  return {
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("data.text", "data.number", "data.half", "data.encoded", "data.list", "data.map", "data.time"),
      fc.constantFrom("'a'", "1", "{'a': 1}", "['a']", "data.map.known", "data.list[0]", "string(data.number)"),
      form("string(base64.decode(", "))"),
      form("{'a': 1}[", "]"),
      form("", "[", "]"),
      form("(", " + ", ")"),
      form("(", " / ", ")"),
      form("", ".split(", ")"),
      form("", ".join(", ")"),
      form("'%d %s'.format([", ", ", "])"),
      form("", ".charAt(", ")"),
      form("", ".substring(", ")"),
      form("", ".map(x, {'a': 1}[x])"),
      form("optional.of(", ")"),
      form("[?", "]"),
      form("{", ": ", "}"),
      form("dyn(", ")"),
      form("int(", ")"),
      form("bytes(", ")"),
      form("timestamp(", ")"),
      form("duration(", ")"),
      form("timestamp(data.time).getHours(", ")"),
      form("timestamp(data.time).getHours(", " + ':00')"),
    ),
    expression: fc.oneof(
      form("", " == ", ""),
      form("", ".matches(", ")"),
      form("", ".matches(", " + '(')"),
      form("", " in ", ""),
      form("", " < ", ""),
      form("", " && ", ""),
      form("", ".all(x, x.", ")").map((text) => text.replaceAll("x.'", "x.a || '")),
      form("sets.contains(", ", ", ")"),
      form("", ".missing == ", ""),
      form("has(data.missing) || ", ".missing"),
    ),
  };
});

async function faultOf(evaluation: () => Promise<unknown>): Promise<CelFault | undefined> {
  try {
    const result = await evaluation();
    return result instanceof CelFault ? result : undefined;
  } catch (error) {
    if (error instanceof CelFault) return error;
    throw error;
  }
}

function evaluations(text: string, data: Json | JsonText, by: Cel = cel): readonly (() => Promise<unknown>)[] {
  return [
    async () => (await by.compileBool(text, ["data"], forever)).evaluate({ data }, forever),
    async () => (await by.compileBool(text, ["data"], forever, "integers")).evaluate({ data }, forever),
    async () => (await by.compileValue(text, ["data"], forever)).evaluate({ data }, forever),
    async () => (await (await by.compileHealth({ current: text }, forever)).statuses([{ data: guarded }], forever))[0],
    async () => {
      const rules = { variables: [{ name: "data", expression: "claims" }], validations: [] };
      const validations = [{ expression: text.replaceAll("data.", "vars.data."), message: "refused" }];
      const compiled = await by.compileRules({ ...rules, validations }, forever);
      return compiled.failures(data instanceof JsonText ? data : new JsonText(JSON.stringify(data)), forever);
    },
  ];
}

describe("the message of a failed CEL evaluation", () => {
  test("contains no value that the expression reads, whatever the expression is", async () => {
    let faults = 0;
    await fc.assert(
      fc.asyncProperty(expression, async (text) => {
        for (const evaluation of evaluations(text, guarded)) {
          const fault = await faultOf(evaluation);
          if (fault === undefined) continue;
          if (fault.reason === "evaluation") faults++;
          expect(fault.message).not.toMatch(told);
        }
      }),
    );
    expect(faults).toBeGreaterThan(50);
  });

  test.each([
    ["a computed key", "{'a': 1}[data.text] == 1", "no such key"],
    ["a computed key beside one that is spelled", "{'a': 1}[data.text] == 1 && data.other == 1", "no such key"],
    ["a computed key that the expression happens to spell", "data['hunter2'] == data[data.text]", "no such key"],
    ["a computed index", "data.list[int(data.number)] == 1", "index out of bounds"],
    ["a computed pattern", "data.text.matches(data.text + '(')", "error parsing regexp: missing closing )"],
    ["a computed time zone", "timestamp(data.time).getHours(data.text) == 1", "unknown time zone"],
    [
      "an error of another form",
      "'%d'.format([data.text]) == ''",
      "the reason is not shown, since it may quote a value",
    ],
  ])("leaves the value out: %s", async (_name, text, message) => {
    const fault = await faultOf(async () =>
      (await cel.compileBool(text, ["data"], forever)).evaluate({ data: guarded }, forever),
    );
    expect(fault?.message).toBe(`failed to evaluate the CEL expression '${text}': ${message}`);
  });

  test.each([
    ["a field", "data.other == 1", "no such key: other"],
    ["a key", "data['other'] == 1", "no such key: other"],
    ["an index", "data.list[9] == 1", "index out of bounds: 9"],
    ["a time zone", "timestamp(data.time).getHours('No/Zone') == 1", "unknown time zone No/Zone"],
  ])("keeps the text of the expression, as in Flux: %s", async (_name, text, message) => {
    const fault = await faultOf(async () =>
      (await cel.compileBool(text, ["data"], forever)).evaluate({ data: guarded }, forever),
    );
    expect(fault?.message).toBe(`failed to evaluate the CEL expression '${text}': ${message}`);
  });

  test.each([
    ["a number beyond the range of doubles", `{"a": 987654321e999}`, "cannot read a JSON number at byte 20"],
    ["a text without an end", `{"a": "hunter2`, "unexpected EOF"],
    ["text that is not JSON", `hunter2`, "a syntax error at byte 1"],
    ["another type", `["hunter2"]`, "cannot read a JSON array at byte 1"],
  ])("does not quote variables that cannot be parsed: %s", async (_name, text, message) => {
    const fault = await faultOf(async () =>
      (await cel.compileBool("has(data.a)", ["data"], forever)).evaluate({ data: new JsonText(text) }, forever),
    );
    expect(fault?.message).toBe(`failed to parse 'data' as JSON: ${message}`);
  });
});

test("an expression that CEL cannot check is refused, and CEL keeps working", async () => {
  await expect(cel.compileBool("[?data.a] == []", ["data"], forever)).rejects.toMatchObject({
    reason: "expression",
    message: "failed to parse the CEL expression '[?data.a] == []': CEL cannot check it",
  });
});
