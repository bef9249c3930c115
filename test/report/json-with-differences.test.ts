import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import JsonWithDifferences from "./json-with-differences.ts";
import { runVitest, vitestModule } from "./run-vitest.ts";
import { suiteCounts, VitestReport } from "./suite-counts.ts";

async function reportOf(tests: string) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-differences-"));
  try {
    const report = join(folder, "report.json");
    const source = `import { expect, test } from ${vitestModule};\n${tests}`;
    await runVitest(folder, source, new JsonWithDifferences(), { outputFile: { json: report } });
    const { stray, ...counted } = VitestReport.parse(JSON.parse(await readFile(report, "utf8")));
    return { stray, failures: suiteCounts(counted, folder).failures };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a failed comparison is reported with the lines that differ, and a line around them", async () => {
  const {
    failures: [failure = ""],
  } = await reportOf(`
    const same = Array.from({ length: 30 }, (_, at) => "same " + at);
    test("two lists", () => expect([...same, "here", ...same]).toEqual([...same, "there", ...same]));
  `);
  const [title, ...lines] = failure.split("\n").map((line) => line.trim());
  expect(title).toBe("a.test.ts: two lists");
  expect(lines.filter((line) => line.includes("ere"))).toEqual(['-   "there",', '+   "here",']);
  expect(lines).toContain('"same 29",');
  expect(lines).not.toContain('"same 28",');
});

test("of a long difference the first lines are reported, and the number of the rest", async () => {
  const {
    failures: [failure = ""],
  } = await reportOf(`
    test("long", () => expect(Array.from({ length: 99 }, (_, at) => at)).toEqual([]));
  `);
  expect(failure).toMatch(/\(\d+ more lines\)$/);
  expect(failure.split("\n").length).toBeLessThan(50);
});

test("an error without a comparison is reported with its message", async () => {
  const {
    failures: [failure],
  } = await reportOf(`test("broken", () => { throw new Error("out of luck"); });`);
  expect(failure).toContain("out of luck");
});

test("an error outside of any test is in the report", async () => {
  const { stray } = await reportOf(
    `test("leaves a rejection", () => { void Promise.reject(new Error("not awaited")); });`,
  );
  expect(stray).toEqual([expect.stringMatching(/^Error: not awaited /)]);
});
