import { readFile } from "node:fs/promises";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  CelFault,
  type CelProgram,
  JsonText,
  maxDeliveryCost,
  maxFilterCost,
  maxRunCost,
} from "../../../lib/cel/cel.ts";
import { celLimits, celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import type { Json } from "../../../lib/core/json.ts";
import { maxJsonParts } from "../../../lib/core/json-text.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { maxWaitingRequests } from "../../../lib/engine/module-threads.ts";
import { unhurriedCel, unhurriedLimits } from "../../doubles/unhurried-cel.ts";

const forever = new AbortController().signal;
const options = { file: celModule, threads: 1, idleMs: 60_000 };
const cel = unhurriedCel();
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

/** A health expression, which is true where the object is Current. */
async function isCurrent(expression: string, object: Json | JsonText): Promise<boolean | CelFault> {
  const rule = await cel.compileHealth({ current: expression }, forever);
  const [status] = await rule.statuses([object], forever);
  return status instanceof CelFault ? status : status === "Current";
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

async function faultOf(expression: string, req: Json | JsonText = {}): Promise<CelFault> {
  try {
    await (await cel.compileBool(expression, ["req"], forever)).evaluate({ req }, forever);
  } catch (error) {
    if (error instanceof CelFault) return error;
    throw error;
  }
  throw new Error(`${expression.slice(0, 80)} has a result`);
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

describe("a CEL budget", () => {
  /** Costs about 110,000: a tenth of the bytes. */
  const expression = "req.a.indexOf('b') < 0 && req.a == req.a";
  const req = { a: "a".repeat(550_000) };

  test("of maxRunCost is shared by all expressions of a run", async () => {
    const run = cel.withBudget(noTenant);
    const program = await run.compileBool(expression, ["req"], forever);
    const each = Array.from({ length: 50 }, () => ({}));
    const first = await program.evaluateEach({ req }, each, forever);
    expect(first.every((result) => result === true)).toBe(true);
    const second = await program.evaluateEach({ req }, each, forever);
    const within = second.filter((result) => result === true).length;
    expect(within + 50).toBe(Math.ceil(maxRunCost / 110_001));
    expect(second.at(-1)).toMatchObject({
      reason: "limit",
      message: expect.stringContaining("all expressions of an object together have cost more than they may in one run"),
    });
    const rule = await run.compileHealth({ current: "true" }, forever);
    expect(await rule.statuses([{}], forever)).toEqual([expect.objectContaining({ reason: "limit" })]);
  });

  test("of a delivery is maxDeliveryCost, and maxFilterCost for each evaluation", async () => {
    const delivery = cel.withBudget(noTenant, "delivery");
    const twice = await delivery.compileBool(`${expression} && req.a == req.a && ${expression}`, ["req"], forever);
    await expect(twice.evaluate({ req }, forever)).rejects.toMatchObject({
      reason: "limit",
      message: expect.stringContaining("actual cost limit exceeded"),
    });
    const once = await delivery.compileBool(expression, ["req"], forever);
    const each = Array.from({ length: 50 }, () => ({}));
    const results = await once.evaluateEach({ req }, each, forever);
    const within = results.filter((result) => result === true).length;
    expect(within).toBe(Math.ceil((maxDeliveryCost - maxFilterCost) / 110_001));
    expect(results.at(-1)).toMatchObject({ reason: "limit" });
  });

  test("is separate for each run", async () => {
    const rule = await cel.withBudget(noTenant).compileHealth({ current: "true" }, forever);
    expect(await rule.statuses([{}], forever)).toEqual(["Current"]);
  });

  test("is used up by a message that exceeds its time", async () => {
    const limits = { ...unhurriedLimits, maxWallMs: 1 };
    const slow = wasmCel(options, limits);
    const run = slow.withBudget(noTenant);
    await expect(run.compileBool("true", [], forever)).rejects.toMatchObject({ reason: "limit" });
    limits.maxWallMs = unhurriedLimits.maxWallMs;
    const rule = await run.compileHealth({ current: "true" }, forever);
    expect(await rule.statuses([{}], forever)).toEqual([expect.objectContaining({ reason: "limit" })]);
    await slow.close();
  });
});

describe("turns of tenants in CEL", () => {
  const loops = "req.l.all(a, req.l.all(b, a + b >= 0.0))";
  /** Costs about 50,000 for each object. */
  const req = { l: Array.from({ length: 90 }, (_, at) => at) };
  const tenant = (namespace: string) => ({ cluster: "test", namespace });

  test("a costly evaluation of many objects lets another tenant in after each maxTurnCost", async () => {
    const ends: string[] = [];
    const many = await cel.withBudget(tenant("many")).compileBool(loops, ["req", "res"], forever);
    const one = await cel.withBudget(tenant("one")).compileBool("req.l[0] == 0.0", ["req"], forever);
    // Of five objects each: four turns.
    const each = Array.from({ length: 20 }, (_, at) => ({ res: { at } }));
    const all = many.evaluateEach({ req }, each, forever).finally(() => ends.push("many"));
    await one.evaluate({ req }, forever).finally(() => ends.push("one"));
    const results = await all;
    expect(ends).toEqual(["one", "many"]);
    expect(results).toHaveLength(20);
    expect(results.every((result) => result === true)).toBe(true);
  });

  test("health of many objects is reported in their order, however many turns it takes", async () => {
    const rule = await cel
      .withBudget(tenant("many"))
      .compileHealth({ current: `${loops} && req.name == 'last'` }, forever);
    const objects = Array.from({ length: 12 }, (_, at) => ({ req: { ...req, name: at === 11 ? "last" : "" } }));
    const statuses = await rule.statuses(objects, forever);
    expect(statuses).toEqual([...Array.from({ length: 11 }, () => "InProgress"), "Current"]);
  });

  test("rules of a provider cost no more than maxRulesCost, in one turn", async () => {
    const costly = "claims.l.all(a, claims.l.all(b, claims.l.all(c, a + b + c >= 0.0)))";
    const validations = Array.from({ length: 20 }, () => ({ expression: costly, message: "refused" }));
    const rules = await cel.withBudget(tenant("rules")).compileRules({ variables: [], validations }, forever);
    // Each costs about 150,000.
    const claims = new JsonText(JSON.stringify({ l: Array.from({ length: 28 }, (_, at) => at) }));
    await expect(rules.failures(claims, forever)).rejects.toMatchObject({ reason: "limit" });
    const few = await cel
      .withBudget(tenant("rules"))
      .compileRules({ variables: [], validations: validations.slice(0, 2) }, forever);
    expect(await few.failures(claims, forever)).toEqual([]);
  });

  test("a tenant with too many waiting requests is refused, and others are not", async () => {
    const stop = new AbortController();
    const busy = cel.withBudget(tenant("busy"));
    const asked = Array.from({ length: maxWaitingRequests + 1 }, () => busy.compileBool("true", [], stop.signal));
    const ends = Promise.allSettled(asked);
    await expect(busy.compileBool("true", [], forever)).rejects.toMatchObject({
      reason: "unavailable",
      message: "CEL is busy: 100 requests of this namespace are waiting already",
    });
    await cel.withBudget(tenant("other")).compileBool("true", [], forever);
    stop.abort(new Error("enough"));
    await ends;
    await busy.compileBool("true", [], forever);
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

describe("a hostile CEL expression", () => {
  const works = async (): Promise<void> => {
    const good = await cel.compileBool("req.a == 1", ["req"], forever);
    expect(await good.evaluate({ req: { a: 1 } }, forever)).toBe(true);
  };

  test("longer than 16 KiB is refused", async () => {
    const long = (bytes: number): string => `'${"a".repeat(bytes - "'' == ''".length)}' == ''`;
    expect(await (await cel.compileBool(long(16_384), [], forever)).evaluate({}, forever)).toBe(false);
    expect(await faultOf(long(16_385))).toMatchObject({
      reason: "limit",
      message: expect.stringContaining("has 16385 bytes, which is more than the 16384 that are allowed"),
    });
  });

  test("with many nested loops is stopped by its cost", async () => {
    const loops = "req.l.all(a, req.l.all(b, req.l.all(c, req.l.all(d, a + b + c + d >= 0.0))))";
    expect(await faultOf(loops, { l: Array.from({ length: 100 }, () => 1) })).toMatchObject({
      reason: "limit",
      message: expect.stringContaining("operation cancelled: actual cost limit exceeded"),
    });
    await works();
  });

  test.each([
    { name: "brackets", text: `${"(".repeat(4_000)}true${")".repeat(4_000)}` },
    { name: "additions", text: `${"1+".repeat(7_000)}1 == req.a` },
    { name: "lists", text: `${"[".repeat(4_000)}${"]".repeat(4_000)} == []` },
    { name: "conditions", text: `${"true ? ".repeat(1_000)}true${" : false".repeat(1_000)}` },
    { name: "members", text: `req${".a".repeat(8_000)} == 1` },
  ])("nested deeply gives one clear error: $name", async ({ text }) => {
    const fault = await faultOf(text);
    expect(["expression", "evaluation", "limit"]).toContain(fault.reason);
    await works();
  });

  test("with a pattern that would hang a backtracking engine is answered at once", async () => {
    const evil = await cel.compileBool("req.a.matches('^(a+)+$')", ["req"], forever);
    expect(await evil.evaluate({ req: { a: `${"a".repeat(50_000)}!` } }, forever)).toBe(false);
  });

  test("that would make a text beyond its cost limit does not start to", async () => {
    const grow = (inner: string): string => `${inner}.replace('a', '${"a".repeat(1_000)}')`;
    expect(await faultOf(`${grow(grow(grow(grow("'a'"))))} == ''`)).toMatchObject({
      reason: "limit",
      message: expect.stringMatching(/actual cost limit exceeded|limit of cost: replace would cost more than 1000000/),
    });
  });

  test.each([
    { name: "maxPattern", bytes: 1, pattern: "a".repeat(1_024), refused: `${"a".repeat(1_024)}b` },
    // Three states for each letter: 4,000,000 steps are 1,000,000 bytes and less.
    { name: "maxMatchSteps", bytes: 666_665, pattern: "aaaa", refused: "aaaaa" },
  ])("matches within $name only", async ({ bytes, pattern, refused }) => {
    const a = "b".repeat(bytes);
    const within = await cel.compileBool(`req.a.matches('${pattern}')`, ["req"], forever);
    expect(await within.evaluate({ req: { a } }, forever)).toBe(false);
    for (const expression of [`req.a.matches('${refused}')`, "req.a.matches(req.p)"]) {
      expect(await faultOf(expression, { a, p: refused })).toMatchObject({
        reason: "limit",
        message: expect.stringMatching(
          /limit of cost: (a pattern has 1025 bytes, more than 1024|.* more than 4000000)/,
        ),
      });
    }
  });

  test("that needs too much memory ends its thread, and the next one has a new thread", async () => {
    const fault = await faultOf("size(req.l) > 0", new JsonText(`{"l": [${"{},".repeat(5_000_000)}{}]}`));
    expect(fault.reason).toBe("limit");
    expect(fault.message).toContain("it needs more than 256 MiB of memory");
    await works();
  });

  test("that reads values nested too deeply, or too many of them, gives one clear error", async () => {
    const deep = `{"a": ${"[".repeat(9_000)}${"]".repeat(9_000)}}`;
    const within = await cel.compileBool("has(req.a)", ["req"], forever);
    await within.evaluate({ req: new JsonText(deep) }, forever).then(
      (result) => expect(result).toBe(true),
      (error: unknown) => expect(error).toMatchObject({ reason: "limit" }),
    );
    const large = new JsonText(`{"a": "${"x".repeat(celLimits.maxInputBytes)}"}`);
    await expect(within.evaluate({ req: large }, forever)).rejects.toMatchObject({
      reason: "limit",
      message: expect.stringContaining("more than 16777216"),
    });
    await works();
  });

  test("whose result is too large gives one clear error", async () => {
    const large = await cel.compileValue("req.a", ["req"], forever);
    const req = { a: "x".repeat(celLimits.maxOutputBytes) };
    await expect(large.evaluate({ req }, forever)).rejects.toMatchObject({
      reason: "limit",
      message: "the CEL expression 'req.a': the result is too large",
    });
    await works();
  });

  test("whose result has too many values gives the same error", async () => {
    const repeated = await cel.compileValue("[req.a, req.a]", ["req"], forever);
    const listed = async (count: number): Promise<Json> =>
      repeated.evaluate({ req: { a: Array.from({ length: count }, () => 0) } }, forever);
    await expect(listed(maxJsonParts / 2)).rejects.toMatchObject({
      reason: "limit",
      message: "the CEL expression '[req.a, req.a]': the result is too large",
    });
    expect(await listed(maxJsonParts / 2 - 10)).toHaveLength(2);
  });

  test("that takes too long is ended, and the next one has a new thread", async () => {
    const short = wasmCel(options, { ...celLimits, maxWallMs: 1 });
    await expect(short.compileBool("true", [], forever)).rejects.toMatchObject({
      reason: "limit",
      message: "the CEL expression 'true': no result within 0.001 s",
    });
    await short.close();
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
