import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import EachMinute from "./each-minute.ts";
import { runVitest, vitestModule } from "./run-vitest.ts";

const folders: string[] = [];
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-each-minute-"));
  folders.push(folder);
  return folder;
}
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

test("a test run names each test when it fails, with the reason, and ends with its counts", async () => {
  const tests = `import { beforeAll, describe, expect, test } from ${vitestModule};
    test("adds", () => {});
    test("subtracts", () => expect({ left: 1, kept: 0 }).toEqual({ left: 2, kept: 0 }));
    describe("numbers", () => { beforeAll(() => { throw new Error("no numbers"); }); test("adds", () => {}); });
    test.skip("divides", () => {});`;
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text.replace(/\d+ s\b/g, "N s"));
  await runVitest(await newFolder(), tests, new EachMinute({ write }));
  expect(lines).toEqual([
    expect.stringMatching(/^failed: a\.test\.ts: subtracts\n {2}expected .*\n(?: {2}.*\n|\n)* {2}- {3}"left": 2,\n/),
    "failed: a.test.ts: numbers\n  no numbers\n",
    "N s: 1 of 1 files, 1 passed, 1 failed\n",
  ]);
});

test("a test run prints at each interval the files that are running", async () => {
  const folder = await newFolder();
  const isSeen = join(folder, "seen");
  const tests = `import { existsSync } from "node:fs"; import { expect, test } from ${vitestModule};
    test("waits", () => expect.poll(() => existsSync(${JSON.stringify(isSeen)}), { timeout: 60_000 }).toBe(true), 60_000);`;
  const lines: string[] = [];
  const write = (text: string): void => {
    lines.push(text.replace(/\d+ s\b/g, "N s"));
    if (text.includes("running")) writeFileSync(isSeen, "");
  };
  await runVitest(folder, tests, new EachMinute({ write, everyMs: 10 }));
  expect(lines).toContain("N s: 0 of 1 files, 0 passed, 0 failed; running a.test.ts N s\n");
  expect(lines.at(-1)).toBe("N s: 1 of 1 files, 1 passed, 0 failed\n");
});
