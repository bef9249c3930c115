import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { suiteCounts, VitestReport } from "./suite-counts.ts";

/**
 * `node test/report/print-counts.ts [--may-skip=PATTERN] REPORT...`: the counts of each suite in all reports together, what
 * failed and why, and last a line with the counts of all suites. Skipped tests are named and count as failures, because their
 * part was missing, unless their name matches the pattern.
 */
const { values, positionals } = parseArgs({ options: { "may-skip": { type: "string" } }, allowPositionals: true });
const { "may-skip": allowed = "^$" } = values;
const read = async (path: string) => VitestReport.parse(JSON.parse(await readFile(path, "utf8")));
const reports = await Promise.all(positionals.map(read));
const testResults = reports.flatMap((report) => report.testResults);
const stray = reports.flatMap((report) => report.stray ?? []);
const { suites, total, skipped, failures, failedOnce } = suiteCounts({ testResults }, join(import.meta.dirname, ".."));
const mayBeSkipped = (name: string) => new RegExp(allowed).test(name);
const missing = skipped.filter((name) => !mayBeSkipped(name));
const lines = [
  ...skipped.filter(mayBeSkipped).map((name) => `skipped, as is allowed: ${name}`),
  ...missing.map((name) => `skipped, and must not be: ${name}`),
  ...[...suites].map(([suite, { passed, failed }]) => `${suite}: ${passed} passed, ${failed} failed`),
  ...(missing.length === 0 ? [] : [`tests without their part: 0 passed, ${missing.length} failed`]),
  ...failedOnce.map((failure) => `failed beside other tests, and passed by itself: ${failure}`.trimEnd()),
  ...stray.map((error) => `an error outside of any test: ${error}`),
  ...failures.map((failure) => `failed: ${failure}`.trimEnd()),
  `${total.passed} passed, ${total.failed + missing.length} failed`,
];
process.stdout.write(`${lines.join("\n")}\n`);
if (total.failed + missing.length + stray.length > 0 || total.passed === 0) process.exitCode = 1;
