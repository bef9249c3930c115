import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatTimes, TimedReport } from "./format-times.ts";

/**
 * `npm run test:times [-- OPTION...]`: runs the tests with these options of vitest, and prints which files took longest and how
 * long each layer took. `node test/report/print-times.ts REPORT.json...` prints the same for reports that are there.
 */
const root = join(import.meta.dirname, "../..");
const args = process.argv.slice(2);
const reports = args.filter((arg) => arg.endsWith(".json"));

function runTests(): string {
  const report = join(root, ".cache/test-times.json");
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const options = ["--reporter=./test/report/each-minute.ts", "--reporter=json", `--outputFile.json=${report}`];
  const { status } = spawnSync(process.execPath, [vitest, "run", ...options, ...args], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
  return report;
}

const paths = reports.length > 0 ? reports : [runTests()];
const files = paths.flatMap((path) => TimedReport.parse(JSON.parse(readFileSync(path, "utf8"))).testResults);
process.stdout.write(formatTimes(files, root));
