import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { VitestReport } from "../report/suite-counts.ts";
import { readClaims, tableFaults, unclaimedTitles, unprovenClaims } from "./claims.ts";

/**
 * `node test/claims/check-claims.ts [--document=FILE] REPORT...`: compares the statements that docs/maintainers/conformance.md claims with the
 * titles of the tests that passed in all reports of a whole run together. Fails if a claim has no such test, and if such a
 * test names a statement that is not claimed.
 */
const tests = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: { document: { type: "string", default: join(tests, "../docs/maintainers/conformance.md") } },
  allowPositionals: true,
});
const claims = readClaims(await readFile(values.document, "utf8"));
const reports = await Promise.all(
  positionals.map(async (path) => VitestReport.parse(JSON.parse(await readFile(path, "utf8")))),
);
const passed = reports
  .flatMap(({ testResults }) => testResults)
  .flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "passed")
      .map(({ fullName }) => ({ file: relative(tests, name), title: fullName })),
  );
const faults = [...tableFaults(claims), ...unprovenClaims(claims, passed), ...unclaimedTitles(claims, passed)];
const count = new Set(
  claims.flatMap(({ reference, numbers, files }) =>
    files.length === 0 ? [] : numbers.map((one) => `${reference} ${one}`),
  ),
).size;
const lines =
  faults.length === 0
    ? [`docs/maintainers/conformance.md: ${count} statements are claimed, and each has a test that passed`]
    : faults.map((fault) => `docs/maintainers/conformance.md: ${fault}`);
process.stdout.write(`${lines.join("\n")}\n`);
if (faults.length > 0) process.exitCode = 1;
