import { afterAll, describe, expect, test } from "vitest";
import { JsonText } from "../../../lib/cel/cel.ts";
import { celLimits, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import type { Json } from "../../../lib/core/json.ts";
import { maxJsonParts } from "../../../lib/core/json-text.ts";
import { unhurriedCel } from "../../doubles/unhurried-cel.ts";
import { forever, options, resultsOf } from "./cel-results.ts";

const cel = unhurriedCel();
const { faultOf } = resultsOf(cel);
afterAll(() => cel.close());

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
