import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../lib/core/failure.ts";
import { type Checkout, changedPaths, copyProject, hasCdk } from "./checkout.ts";
import { chooseFaults } from "./choose-faults.ts";
import { type Fault, faultsToTry, withMistake } from "./fault.ts";
import { fileFaults } from "./files.ts";
import { type Asked, readArguments, usage } from "./read-arguments.ts";
import { runTests, type TestRun } from "./run-tests.ts";

/**
 * `npm run faults`: plants known mistakes in a copy of the project, one after the other, and fails where none of the tests that
 * a mistake names notices it. See docs/maintainers/testing.md.
 */
const asked = askedOrEnd();

/** A fault that makes its tests hang counts as noticed: they would not end in CI either. */
const timeoutMs = 180_000;

const all = faultsToTry(fileFaults);
const listed = hasCdk ? all : all.filter(({ file }) => !file.startsWith("infra/"));
const changed = changedPaths(asked.since);
const chosen = chooseFaults(listed, { ...asked, changed: changed ?? new Set() });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
if (changed === undefined && !asked.all) say("no commit to compare with: nothing counts as changed");
say(`${chosen.length} of ${listed.length} faults`);
if (listed.length < all.length) say(`${all.length - listed.length} in infra/ are left out: the CDK is not installed`);

const stopped = new AbortController();
process.once("SIGINT", () => stopped.abort(new Error("interrupted")));
const problems = chosen.length === 0 ? [] : await tryAll(chosen);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else if (chosen.length > 0) say("every fault was noticed");
// A path or word that is misspelled must not look like a run in which every fault was noticed.
else if (asked.files.length > 0 || asked.what !== undefined)
  end(1, "no listed fault is of these files and has these words");

function askedOrEnd(): Asked {
  try {
    const read = readArguments(process.argv.slice(2));
    if (read !== "help") return read;
  } catch (error) {
    return end(2, `${messageOf(error)}\n${usage}`);
  }
  process.stdout.write(`${usage}\n`);
  return process.exit();
}

function end(code: number, text: string): never {
  process.stderr.write(`${text}\n`);
  return process.exit(code);
}

/** Answers what is wrong, in lines. */
async function tryAll(faults: readonly Fault[]): Promise<readonly string[]> {
  const jobs = Math.min(asked.jobs, faults.length);
  const checkouts = Array.from({ length: jobs }, copyProject);
  process.once("exit", () => checkouts.forEach((checkout) => checkout[Symbol.dispose]()));
  const [first] = checkouts;
  if (first === undefined) throw new RangeError("no copy of the project to plant faults in");
  const vacuous = [...uncompiled(faults, first), ...(asked.tested ? [] : await untested(faults, first))];
  if (vacuous.length > 0) return vacuous;
  const problems: string[] = [];
  // All copies draw from one iterator, so each fault is tried once.
  const left = faults.values();
  const work = async (checkout: Checkout): Promise<void> => {
    for (const fault of left) problems.push(...(await tryFault(fault, checkout)));
  };
  await Promise.all(checkouts.map(work));
  return problems;
}

/** Faults whose tests fail or do not run where nothing is planted: they could not tell. What passes the second time is only named. */
async function untested(faults: readonly Fault[], checkout: Checkout): Promise<readonly string[]> {
  const problems = await baselineProblems(faults, checkout);
  if (problems.length === 0) return problems;
  for (const problem of problems) say(`once more, since ${problem}`);
  return baselineProblems(faults, checkout);
}

async function baselineProblems(faults: readonly Fault[], { folder }: Checkout): Promise<readonly string[]> {
  const files = [...new Set(faults.flatMap(({ tests }) => tests))];
  const { passed, failed, unloaded, stray, hung } = await runTests(folder, {
    files,
    named: undefined,
    bail: false,
    timeoutMs: 10 * timeoutMs,
    signal: stopped.signal,
  });
  if (hung) return ["the tests do not end where nothing is planted"];
  return [
    ...unloaded,
    // Every fault would count as noticed.
    ...stray.map((error) => `an error outside of any test where nothing is planted: ${error}`),
    ...failed.map((name) => `fails where nothing is planted: ${name}`),
    ...faults.flatMap(({ file, what, named }) =>
      named === undefined || passed.some((name) => name.includes(named))
        ? []
        : [`${file}: "${what}": no test named "${named}" passes where nothing is planted`],
    ),
  ];
}

/**
 * Faults that do not compile: their tests would fail for that alone. As many at once as there are files. Only the first round checks
 * every file: each later one checks what it has changed, and the files that depend on that.
 */
function uncompiled(faults: readonly Fault[], { folder }: Checkout): readonly string[] {
  const problems: string[] = [];
  const compile = ["-p", ".", "--incremental", "--tsBuildInfoFile", ".cache/faults.tsbuildinfo"];
  for (let left = faults.filter(({ file }) => file.endsWith(".ts")); left.length > 0; ) {
    const round = left.filter((fault, index) => left.findIndex(({ file }) => file === fault.file) === index);
    left = left.filter((fault) => !round.includes(fault));
    const restore = round.map((fault) => plant(fault, folder));
    const { error, status, stdout } = spawnSync(join(folder, "node_modules/.bin/tsc"), compile, {
      cwd: folder,
      encoding: "utf8",
    });
    for (const undo of restore) undo();
    if (error !== undefined || status === null) {
      return [...problems, `the compiler ended without an answer: ${messageOf(error ?? "it was killed")}`];
    }
    // What a mistake leaves unused is no reason to notice it.
    const errors = stdout.split("\n").filter((line) => /error TS(?!6133|6192|6196|6198)/.test(line));
    const ofFile = (line: string) => round.find(({ file }) => line.startsWith(file));
    problems.push(...errors.map((line) => `"${ofFile(line)?.what ?? "one of the faults"}" does not compile: ${line}`));
  }
  return problems;
}

/** Answers what is wrong, in a line; none where the fault was noticed. */
async function tryFault(fault: Fault, { folder }: Checkout): Promise<readonly string[]> {
  const restore = plant(fault, folder);
  const startedAt = performance.now();
  const run = await runTests(folder, {
    files: fault.tests,
    named: fault.named,
    bail: true,
    timeoutMs,
    signal: stopped.signal,
  });
  restore();
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const { problem, words } = verdictOf(run);
  say(`${seconds.padStart(6)} s  ${fault.file}: ${fault.what}: ${words}`);
  return problem ? [`${fault.file}: "${fault.what}": ${words} (${fault.tests.join(", ")})`] : [];
}

function verdictOf({ failed, unloaded, hung, stray }: TestRun): { problem: boolean; words: string } {
  const [test] = failed;
  if (test !== undefined) return { problem: false, words: `noticed by "${test}"` };
  if (hung) return { problem: false, words: "noticed, since its tests do not end" };
  const [file] = unloaded;
  if (file !== undefined) return { problem: true, words: `a test file cannot be loaded: ${file}` };
  const [error] = stray;
  if (error !== undefined) return { problem: false, words: `noticed by an error outside of any test: ${error}` };
  return { problem: true, words: "no test notices it" };
}

/** Answers how to take it out. */
function plant(fault: Fault, folder: string): () => void {
  const path = join(folder, fault.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, withMistake(fault, text));
  return () => writeFileSync(path, text);
}
