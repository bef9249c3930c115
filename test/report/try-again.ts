import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { suiteCounts, VitestReport } from "./suite-counts.ts";

/**
 * `node test/report/try-again.ts [--root=FOLDER] REPORT [-- OPTION...]`: after a run of vitest that failed, runs the files that
 * failed once more with these options, one after the other and with nothing beside them. A file that passes then has its new result in
 * the report, with what it said the first time. Fails if a file fails again, if more files failed than a busy machine explains,
 * and if something other than a test failed.
 */
const most = 5;
const { values, positionals } = parseArgs({
  options: { root: { type: "string", default: join(import.meta.dirname, "../..") } },
  allowPositionals: true,
});
const { root } = values;
const [report = "", ...options] = positionals;

function read(path: string): VitestReport | undefined {
  return existsSync(path) ? VitestReport.parse(JSON.parse(readFileSync(path, "utf8"))) : undefined;
}

function isTriedAgain(first: VitestReport): boolean {
  const failed = first.testResults.filter(({ status }) => status === "failed").length;
  return failed > 0 && failed <= most && (first.stray ?? []).length === 0;
}

function tryAgain(first: VitestReport): boolean {
  const failed = first.testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
  const second = `${report}.again`;
  rmSync(second, { force: true });
  const vitest = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs");
  const reporter = join(import.meta.dirname, "json-with-differences.ts");
  const args = ["run", "--maxWorkers=1", "--reporter=default", `--reporter=${reporter}`, `--outputFile.json=${second}`];
  spawnSync(process.execPath, [vitest, ...args, ...options, ...failed], { cwd: root, stdio: "inherit" });
  const again = read(second);
  if (again === undefined) return false;
  const passed = new Map(
    again.testResults.filter(({ status }) => status === "passed").map((file) => [file.name, file] as const),
  );
  const testResults = first.testResults.map((file) => {
    const now = passed.get(file.name);
    if (now === undefined) return file;
    return { ...now, failedOnce: suiteCounts({ testResults: [file] }, join(root, "test")).failures };
  });
  writeFileSync(report, JSON.stringify({ ...first, testResults }));
  return (again.stray ?? []).length === 0 && failed.every((name) => passed.has(name));
}

const first = read(report);
if (first === undefined || !isTriedAgain(first) || !tryAgain(first)) process.exitCode = 1;
