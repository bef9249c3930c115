import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listSkipped } from "./list-skipped.ts";
import { runVitest, vitestModule } from "./run-vitest.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-skipped-"));
});
afterEach(() => rm(folder, { recursive: true }));

const program = `
import { describe, expect, test } from ${vitestModule};
test("one", () => expect(1).toBe(1));
describe.skipIf(true)("with a part", () => { describe("inner", () => { test("two", () => {}); test("three", () => {}); }); });
`;

async function run(more: object): Promise<string> {
  let text = "";
  const reporter = listSkipped((piece) => {
    text += piece;
  });
  await runVitest(folder, program, reporter, more);
  return text;
}

test("a test run lists the skipped suites at its end, and how to get their parts", async () => {
  const text = await run({});
  expect(text).toContain("\n  a.test.ts: with a part (2)\nTo run them too: npm run real -- up;");
});

test("a run of some tests by their name does not list the others", async () => {
  expect(await run({ testNamePattern: "one" })).toBe("");
});
