import { afterAll, describe, expect, test } from "vitest";
import { JsonText, maxDeliveryCost, maxFilterCost, maxRunCost } from "../../../lib/cel/cel.ts";
import { wasmCel } from "../../../lib/cel/wasm-cel.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { maxWaitingRequests } from "../../../lib/engine/module-threads.ts";
import { unhurriedCel, unhurriedLimits } from "../../doubles/unhurried-cel.ts";
import { forever, options } from "./cel-results.ts";

const cel = unhurriedCel();
afterAll(() => cel.close());

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
