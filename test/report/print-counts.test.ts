import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("print-counts.ts", import.meta.url));
const fileOf = (suite: string): string => fileURLToPath(new URL(`../${suite}/a.test.ts`, import.meta.url));

/** Of a report for each suite, with one file in it. */
function printAll(suites: Readonly<Record<string, readonly string[]>>, ...options: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-counts-"));
  const reports = Object.entries(suites).map(([suite, statuses]) => {
    const assertionResults = statuses.map((status) => ({ fullName: `a ${status} test`, status }));
    const report = join(folder, `${suite}.json`);
    const testResults = [{ name: fileOf(suite), status: "passed", assertionResults }];
    writeFileSync(report, JSON.stringify({ testResults }));
    return report;
  });
  try {
    const { stdout, status } = spawnSync(process.execPath, [program, ...options, ...reports], { encoding: "utf8" });
    return { lines: stdout.trimEnd().split("\n"), status };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const print = (statuses: readonly string[], ...options: readonly string[]) =>
  printAll({ contract: statuses }, ...options);

test.each([
  {
    title: "the last line has the counts of all suites, and the exit code is 0 if no test failed",
    statuses: ["passed", "passed"],
    lines: ["contract: 2 passed, 0 failed", "2 passed, 0 failed"],
    status: 0,
  },
  {
    title: "a failed test is named and is a failure",
    statuses: ["passed", "failed"],
    lines: ["contract: 1 passed, 1 failed", "failed: contract/a.test.ts: a failed test", "1 passed, 1 failed"],
    status: 1,
  },
  {
    title: "a skipped test is named and is a failure",
    statuses: ["passed", "skipped"],
    lines: [
      "skipped, and must not be: contract/a.test.ts: a skipped test",
      "contract: 1 passed, 0 failed",
      "tests without their part: 0 passed, 1 failed",
      "1 passed, 1 failed",
    ],
    status: 1,
  },
  {
    title: "no test at all is a failure",
    statuses: [],
    lines: ["contract: 0 passed, 0 failed", "0 passed, 0 failed"],
    status: 1,
  },
])("of the counts, $title", ({ statuses, lines, status }) => {
  expect(print(statuses)).toEqual({ lines, status });
});

test("a skipped test whose name is allowed is listed, and is not a failure", () => {
  expect(printAll({ contract: ["passed", "skipped"], unit: ["pending"] }, "--may-skip=a skipped|a pending")).toEqual({
    lines: [
      "skipped, as is allowed: contract/a.test.ts: a skipped test",
      "skipped, as is allowed: unit/a.test.ts: a pending test",
      "contract: 1 passed, 0 failed",
      "unit: 0 passed, 0 failed",
      "1 passed, 0 failed",
    ],
    status: 0,
  });
});

test("several reports are counted together", () => {
  expect(printAll({ unit: ["passed"], contract: ["passed", "failed"] })).toEqual({
    lines: [
      "contract: 1 passed, 1 failed",
      "unit: 1 passed, 0 failed",
      "failed: contract/a.test.ts: a failed test",
      "2 passed, 1 failed",
    ],
    status: 1,
  });
});

test("a test that passes on retry is listed and is not a failure; an error outside of any test is one", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-counts-"));
  const report = join(folder, "report.json");
  const assertionResults = [{ fullName: "a test", status: "passed" }];
  const testResults = [
    { name: fileOf("unit"), status: "passed", assertionResults, failedOnce: ["unit/a.test.ts: a test"] },
  ];
  const printed = (stray: readonly string[]) => {
    writeFileSync(report, JSON.stringify({ testResults, stray }));
    const { stdout, status } = spawnSync(process.execPath, [program, report], { encoding: "utf8" });
    return { lines: stdout.trimEnd().split("\n"), status };
  };
  const unit = "unit: 1 passed, 0 failed";
  const named = "failed beside other tests, and passed by itself: unit/a.test.ts: a test";
  const all = "1 passed, 0 failed";
  try {
    expect(printed([])).toEqual({ lines: [unit, named, all], status: 0 });
    const lines = [unit, named, "an error outside of any test: a worker died", all];
    expect(printed(["a worker died"])).toEqual({ lines, status: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
