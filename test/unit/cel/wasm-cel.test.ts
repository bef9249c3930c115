import { readFile } from "node:fs/promises";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { CelFault, type CelProgram, JsonText } from "../../../lib/cel/cel.ts";
import { celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import type { Json } from "../../../lib/core/json.ts";
import { unhurriedCel, unhurriedLimits } from "../../doubles/unhurried-cel.ts";
import { forever, options, resultsOf } from "./cel-results.ts";

const cel = unhurriedCel();
const { faultOf, isCurrent } = resultsOf(cel);
afterAll(() => cel.close());
const testdata = new URL("../../../engine/cel/testdata/", import.meta.url);
const valuesText = await readFile(new URL("values.json", testdata), "utf8");
const values = z.record(z.string(), z.json()).parse(JSON.parse(valuesText));

const answers = z
  .array(
    z.object({
      expression: z.string(),
      output: z.enum(["bool", "string", "value", "parsed"]),
      value: z.json().optional(),
      fault: z.string().optional(),
    }),
  )
  .parse(JSON.parse(await readFile(new URL("answers.json", testdata), "utf8")));

function program(expression: string, output: "bool" | "string" | "value"): Promise<CelProgram<Json>> {
  const variables = ["res", "req", "claims"];
  switch (output) {
    case "bool":
      return cel.compileBool(expression, variables, forever);
    case "string":
      return cel.compileString(expression, variables, forever);
    case "value":
      return cel.compileValue(expression, variables, forever);
  }
}

async function resultOf(expression: string, output: "bool" | "string" | "value" | "parsed"): Promise<Json | CelFault> {
  try {
    if (output === "parsed") return await isCurrent(expression, new JsonText(valuesText));
    return await (await program(expression, output)).evaluate(values, forever);
  } catch (error) {
    if (error instanceof CelFault) return error;
    throw error;
  }
}

describe("CEL as WebAssembly", () => {
  test("gives the same result and text for each expression of the table as Flux's own package", async () => {
    const got = [];
    for (const { expression, output } of answers) {
      const result = await resultOf(expression, output);
      got.push({
        expression,
        output,
        ...(result instanceof CelFault
          ? { fault: result.message.replace("failed to parse the expression Current: ", "") }
          : { value: result }),
      });
    }
    expect(answers.length).toBeGreaterThan(200);
    expect(got).toEqual(answers);
  });

  test("distinguishes an expression that does not compile from values without a result", async () => {
    expect(await faultOf("req.open")).toMatchObject({
      reason: "expression",
      message: "CEL expression output type mismatch: expected bool, got dyn",
    });
    expect(await faultOf("req.open == true")).toMatchObject({
      reason: "evaluation",
      message: "failed to evaluate the CEL expression 'req.open == true': no such key: open",
    });
  });

  test("knows only the declared variables", async () => {
    await expect(cel.compileBool("claims.sub == 'a'", ["res", "req"], forever)).rejects.toThrow(
      "undeclared reference to 'claims'",
    );
    await cel.compileBool("claims.sub == 'a'", ["res", "req", "claims"], forever);
  });

  test("parses a value without loss: numbers beyond 2^53 as in Go, and nothing after the first value", async () => {
    const same = await cel.compileBool("req.id == 9007199254740993", ["req"], forever);
    // Flux's filters read numbers as doubles, and compare a double with a whole number as doubles.
    expect(await same.evaluate({ req: new JsonText('{"id": 9007199254740993}') }, forever)).toBe(true);
    const near = await cel.compileBool("req.id >= 9223372036854775807u", ["req"], forever);
    expect(await near.evaluate({ req: new JsonText('{"id": 9223372036854775807}') }, forever)).toBe(true);
    const last = await cel.compileBool("req.id == 2", ["req"], forever);
    expect(await last.evaluate({ req: new JsonText('{"id": 1, "id": 2} trailing') }, forever)).toBe(true);
  });

  test.each(["", "[]", "5", '{"a": }', '{"a": 1', '{}}, "expression": "true"'.slice(2)])(
    "a value that is not a JSON object is an error: %s",
    async (text) => {
      expect(await faultOf("has(req.a) || true", new JsonText(text))).toMatchObject({
        reason: "evaluation",
        message: expect.stringMatching(/^failed to parse 'req' as JSON: /),
      });
    },
  );

  test("evaluates one expression for many objects in one message; an error of one does not affect the others", async () => {
    const named = await cel.compileBool("req.names.exists(n, n == res.metadata.name)", ["res", "req"], forever);
    const each = ["a", "b", "c"].map((name) => ({ res: { metadata: name === "b" ? {} : { name } } }));
    const results = await named.evaluateEach({ req: { names: ["a"] } }, each, forever);
    expect(results.map((result) => (result instanceof CelFault ? result.reason : result))).toEqual([
      true,
      "evaluation",
      false,
    ]);
  });

  test("a value that all objects share must be JSON", async () => {
    const named = await cel.compileBool("req.a == 1", ["res", "req"], forever);
    await expect(named.evaluateEach({ req: new JsonText("!") }, [{ res: {} }], forever)).rejects.toMatchObject({
      reason: "evaluation",
    });
  });
});

describe("health expressions (110)", () => {
  const rule = {
    inProgress: "status.phase == 'Creating'",
    failed: "status.phase == 'Broken'",
    current: "status.phase == 'Running'",
  };
  const database = (phase: string, generations: Readonly<Record<string, Json>> = {}) => ({
    metadata: { generation: generations["generation"] ?? 1 },
    status: { phase, ...("observed" in generations ? { observedGeneration: generations["observed"] ?? null } : {}) },
  });

  test.each<[string, Json, string]>([
    ["the first that is true decides", database("Creating"), "InProgress"],
    ["failed", database("Broken"), "Failed"],
    ["current", database("Running"), "Current"],
    ["none is true", database("Elsewhere"), "InProgress"],
    ["an older generation is observed", database("Running", { generation: 2, observed: 1 }), "InProgress"],
    ["this generation is observed", database("Running", { generation: 2, observed: 2 }), "Current"],
    ["an observed generation that is not an integer is ignored", database("Running", { observed: "0" }), "Current"],
    ["nor one that is a fraction", database("Running", { observed: 0.5 }), "Current"],
  ])("%s", async (_name, object, expected) => {
    const compiled = await cel.compileHealth(rule, forever);
    expect(await compiled.statuses([object], forever)).toEqual([expected]);
  });

  test("integers of an object are int, as written", async () => {
    expect(await isCurrent("type(metadata.generation) == int", { metadata: { generation: 3 } })).toBe(true);
    expect(await isCurrent("metadata.generation % 2 == 1", { metadata: { generation: 3 } })).toBe(true);
    const ready = await cel.compileBool("dep.metadata.generation % 2 == 1", ["dep"], forever, "integers");
    expect(await ready.evaluate({ dep: { metadata: { generation: 3 } } }, forever)).toBe(true);
    const doubles = await cel.compileBool("dep.metadata.generation % 2 == 1", ["dep"], forever);
    await expect(doubles.evaluate({ dep: { metadata: { generation: 3 } } }, forever)).rejects.toThrow(
      "no such overload",
    );
  });

  test("an object whose expression has no result does not affect the others", async () => {
    const compiled = await cel.compileHealth(rule, forever);
    const [missing, current] = await compiled.statuses([{ metadata: {} }, database("Running")], forever);
    expect(missing).toBeInstanceOf(CelFault);
    expect(missing).toMatchObject({
      reason: "evaluation",
      message: "failed to evaluate the CEL expression 'status.phase == 'Creating'': no such attribute(s): status.phase",
    });
    expect(current).toBe("Current");
  });

  test.each([
    [{ current: "" }, "expression Current not specified"],
    [{ current: "true", failed: "foo." }, "failed to parse the expression Failed: failed to parse the CEL expression"],
    [{ current: "foo.", failed: "foo." }, "failed to parse the expression Current: failed to parse the CEL"],
    [{ current: "true", inProgress: `'${"a".repeat(20_000)}'` }, "failed to parse the expression InProgress: the CEL"],
  ])("%j cannot be parsed", async (broken, message) => {
    await expect(cel.compileHealth(broken, forever)).rejects.toThrow(message);
  });

  test("more objects than fit into one message keep their order", async () => {
    const compiled = await cel.compileHealth({ current: "status.at == 'last'" }, forever);
    const padding = "x".repeat(1_000_000);
    const objects = Array.from({ length: 9 }, (_, at) => ({ padding, status: { at: at === 8 ? "last" : "" } }));
    const statuses = await compiled.statuses(objects, forever);
    expect(statuses).toEqual([...Array.from({ length: 8 }, () => "InProgress"), "Current"]);
  });

  test("an expression that is too costly fails its object, and one that runs too long fails all", async () => {
    const numbers = Array.from({ length: 200 }, (_, at) => at);
    const costly = "data.l.all(a, data.l.all(b, data.l.all(c, a + b + c >= 0)))";
    expect(await isCurrent(costly, { data: { l: numbers } })).toMatchObject({ reason: "limit" });
    const limits = { ...unhurriedLimits };
    const slow = wasmCel(options, limits);
    try {
      const compiled = await slow.compileHealth({ current: costly }, forever);
      limits.maxCpuMs = 20;
      const many = Array.from({ length: 20 }, () => ({ data: { l: numbers } }));
      await expect(compiled.statuses(many, forever)).rejects.toMatchObject({ reason: "limit" });
    } finally {
      await slow.close();
    }
  });
});

describe("CEL rules over claims", () => {
  test("variables are evaluated in order, keep CEL's types, and are available as vars", async () => {
    const rules = await cel.compileRules(
      {
        variables: [
          { name: "at", expression: "timestamp(claims.time)" },
          { name: "allowed", expression: "['shop/cart']" },
          { name: "late", expression: "vars.at > timestamp('2026-01-01T00:00:00Z')" },
        ],
        validations: [
          { expression: "claims.repository in vars.allowed", message: "repository not allowed" },
          { expression: "vars.late == true", message: "too early" },
          { expression: "vars.at.getFullYear() == 2025", message: "not of 2025" },
        ],
      },
      forever,
    );
    const claims = (repository: string) => new JsonText(JSON.stringify({ repository, time: "2026-03-02T11:31:07Z" }));
    expect(await rules.failures(claims("shop/cart"), forever)).toEqual(["not of 2025"]);
    expect(await rules.failures(claims("x"), forever)).toEqual(["repository not allowed", "not of 2025"]);
  });

  test.each([
    {
      rules: { variables: [{ name: "v", expression: "other" }], validations: [] },
      message: `invalid expression for variable "v": failed to parse the CEL expression 'other': ERROR: <input>:1:1: undeclared reference to 'other'`,
    },
    {
      rules: { variables: [], validations: [{ expression: "claims.admin", message: "no admin" }] },
      message: `invalid expression for validation "no admin": CEL expression output type mismatch: expected bool, got dyn`,
    },
  ])("a rule that does not compile is named: $message", async ({ rules, message }) => {
    await expect(cel.compileRules(rules, forever)).rejects.toMatchObject({
      reason: "expression",
      message: expect.stringContaining(message),
    });
  });

  test("a rule without a result is named", async () => {
    const validations = [{ expression: "claims.admin == true", message: "no admin" }];
    const claims = new JsonText("{}");
    const missing = await cel.compileRules({ variables: [], validations }, forever);
    await expect(missing.failures(claims, forever)).rejects.toThrow(
      "failed to evaluate validation: failed to evaluate the CEL expression 'claims.admin == true': no such key: admin",
    );
    const variables = [{ name: "v", expression: "claims.who" }];
    const variable = await cel.compileRules({ variables, validations }, forever);
    await expect(variable.failures(claims, forever)).rejects.toThrow(
      `failed to evaluate variable "v": failed to evaluate the CEL expression 'claims.who': no such key: who`,
    );
  });
});

test("a missing CEL module is reported when the first expression is evaluated, and not before", async () => {
  const missing = wasmCel({ ...options, file: new URL("missing.wasm.br", celModule) });
  await expect(missing.compileBool("true", [], forever)).rejects.toMatchObject({
    reason: "unavailable",
    message: expect.stringMatching(/^CEL did not start: /),
  });
  await missing.close();
});

test("a caller that aborts an evaluation gets its own reason", async () => {
  const stopped = AbortSignal.abort(new Error("given up"));
  await expect(cel.compileBool("true", [], stopped)).rejects.toThrow("given up");
});
