import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { vitestModule } from "./run-vitest.ts";
import { suiteCounts, VitestReport } from "./suite-counts.ts";

const program = fileURLToPath(new URL("try-again.ts", import.meta.url));
const passes = 'test("holds", () => {});';
const fails = 'test("holds", () => { throw new Error("again"); });';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-try-again-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The files as they are now, after a run in which all of these failed and `whole.test.ts` passed. */
function tryAgain(files: Readonly<Record<string, string>>, stray: readonly string[] = []) {
  const report = join(folder, "report.json");
  const failed = { fullName: "holds", status: "failed", failureMessages: ["Error: too late"] };
  const first = Object.keys(files).map((name) => ({
    ...{ name: join(folder, name), status: "failed", assertionResults: [failed] },
  }));
  const whole = {
    name: join(folder, "whole.test.ts"),
    status: "passed",
    assertionResults: [{ ...failed, status: "passed" }],
  };
  writeFileSync(report, JSON.stringify({ testResults: [whole, ...first], stray }));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), `import { test } from ${vitestModule};\n${text}`);
  }
  const { status } = spawnSync(process.execPath, [program, `--root=${folder}`, report, "--", "--testTimeout=60000"]);
  const { total, failures, failedOnce } = suiteCounts(
    VitestReport.parse(JSON.parse(readFileSync(report, "utf8"))),
    folder,
  );
  return { status, total, failures, failedOnce, isRun: existsSync(`${report}.again`) };
}

test("a file that failed with others and passes alone counts as passed, and its output is kept", () => {
  expect(tryAgain({ "a.test.ts": passes })).toEqual({
    ...{ status: 0, total: { passed: 2, failed: 0 }, failures: [], isRun: true },
    failedOnce: ["../a.test.ts: holds\n    Error: too late"],
  });
});

test("a file that fails again is a failure, also next to one that passes", () => {
  const { status, total, failures } = tryAgain({ "a.test.ts": passes, "b.test.ts": fails });
  expect({ status, total }).toEqual({ status: 1, total: { passed: 2, failed: 1 } });
  expect(failures).toEqual([expect.stringContaining("b.test.ts: holds")]);
});

test("a file that can no longer be loaded is a failure", () => {
  expect(tryAgain({ "a.test.ts": 'throw new Error("gone");' }).status).toBe(1);
});

test("an error outside of any test is a failure, in the first run and in the second", () => {
  expect(tryAgain({ "a.test.ts": passes }, ["a worker died"])).toMatchObject({ status: 1, isRun: false });
  const leaves = 'test("holds", () => { void Promise.reject(new Error("not awaited")); });';
  expect(tryAgain({ "a.test.ts": leaves }).status).toBe(1);
});

test("nothing is retried if more than five files failed, if none failed, or without a report", () => {
  const six = Array.from({ length: 6 }, (_, at) => [`${at}.test.ts`, passes] as const);
  expect(tryAgain(Object.fromEntries(six))).toMatchObject({ status: 1, isRun: false });
  expect(tryAgain({})).toMatchObject({ status: 1, isRun: false });
  expect(spawnSync(process.execPath, [program, join(folder, "none.json")]).status).toBe(1);
});
