import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { copyProject } from "../faults/checkout.ts";
import { equivalents } from "./equivalents.ts";
import { findUncompiled } from "./find-uncompiled.ts";
import { installStryker } from "./install-stryker.ts";
import { type Measured, measure, mutantsOf, Report, type Score } from "./score.ts";

/**
 * `npm run mutation -- PATH…`: Stryker changes these files or folders of lib in many small ways, and runs the nearest tests on
 * each change. Prints the changes that no test has noticed. See docs/maintainers/testing.md.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  // Also reruns unchanged mutants: Stryker does not notice changes in the imports of a test.
  options: { force: { type: "boolean", default: false } },
});

/** The least share of mutants that the tests of a folder have to notice. */
const leastShare = 0.85;
const root = join(import.meta.dirname, "../..");
const cache = join(root, ".cache/mutation");
const results = join(cache, "results.json");

setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
const paths = positionals.map((path) => path.replace(/\/$/, ""));
const patterns = paths.map((path) => (statSync(join(root, path)).isDirectory() ? `${path}/**/*.ts` : path));
const { status } = spawnSync(
  process.execPath,
  [
    installStryker(cache),
    ...["run", "test/mutation/stryker.json", "--logLevel", "warn"],
    ...(patterns.length === 0 ? [] : ["--mutate", patterns.join(",")]),
    ...(values.force ? ["--force"] : []),
  ],
  { cwd: root, stdio: "inherit" },
);
if (status === 0) process.exitCode = print(measureAll());
else process.exitCode = 1;

function measureAll(): Measured {
  const report = Report.parse(JSON.parse(readFileSync(results, "utf8")));
  const isChosen = (file: string) =>
    existsSync(join(root, file)) &&
    (paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path}/`)));
  const files = Object.fromEntries(Object.entries(report.files).filter(([file]) => isChosen(file)));
  const mutants = mutantsOf({ files });
  const { survivors } = measure(mutants, equivalents, () => false);
  using copy = copyProject();
  const uncompiled = findUncompiled(survivors, copy.folder);
  return measure(mutants, equivalents, (mutant) => uncompiled.has(mutant));
}

/** Answers the exit code. */
function print({ scores, survivors, problems }: Measured): number {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const { file, line, column, from, to, outcome } of survivors) {
    say(`${file}:${line}:${column} ${outcome === "untested" ? "(no test runs it)" : ""}`.trimEnd());
    for (const text of from.split("\n")) say(`  - ${text.trim()}`);
    for (const text of to.split("\n")) say(`  + ${text.trim()}`);
  }
  say("");
  for (const { folder, mutants, noticed, survived, excused, share } of scores) {
    say(
      `${percent(share)}  ${folder}: ${noticed} of ${mutants} noticed, ${survived} not, ${excused} equivalent or not compiling`,
    );
  }
  for (const problem of problems) process.stderr.write(`✗ ${problem}\n`);
  const low = scores.filter(({ share }) => share < leastShare);
  for (const { folder, share } of low) {
    process.stderr.write(`✗ ${folder}: ${percent(share)}, at least ${percent(leastShare)} is wanted\n`);
  }
  return problems.length + low.length > 0 ? 1 : 0;
}

function percent(share: Score["share"]): string {
  return `${(share * 100).toFixed(1)} %`;
}
