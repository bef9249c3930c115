import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startVitest } from "vitest/node";
import { listSkipped } from "./list-skipped.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-skipped-"));
});
afterEach(() => rm(folder, { recursive: true }));

const program = `
import { describe, expect, test } from ${JSON.stringify(import.meta.resolve("vitest"))};
test("one", () => expect(1).toBe(1));
describe.skipIf(true)("with a part", () => { describe("inner", () => { test("two", () => {}); test("three", () => {}); }); });
`;

async function run(more: object): Promise<string> {
  await writeFile(join(folder, "a.test.ts"), program);
  let text = "";
  const reporter = listSkipped((piece) => {
    text += piece;
  });
  const vitest = await startVitest("test", [], {
    config: false,
    root: folder,
    watch: false,
    include: ["*.test.ts"],
    pool: "threads",
    reporters: [reporter],
    ...more,
  });
  await vitest.close();
  return text;
}

test("after a run the suites that were skipped are named, with the way to get their part", async () => {
  const text = await run({});
  expect(text).toContain("\n  a.test.ts: with a part (2)\nTo run them too: npm run real -- up;");
});

test("a run of some tests by their name does not list the others", async () => {
  expect(await run({ testNamePattern: "one" })).toBe("");
});
