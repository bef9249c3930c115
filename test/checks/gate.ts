import { existsSync, globSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../lib/core/failure.ts";
import { stopOnSignal } from "../../local/end-of-process.ts";
import { changedPaths } from "../faults/checkout.ts";
import { realPartsEnvironment, startRealParts, stopRealParts } from "./real-parts.ts";
import { formatResults, runStep, type Step, type StepResult } from "./run-step.ts";

/**
 * The gate: what every change must pass, with every real part. `.ci/run` installs the packages and runs this. Where the parts
 * are not installed yet, which takes a quarter of an hour, the tests that need none run meanwhile. The last line of its output
 * is the count of all tests; what failed, and why, stands right before it.
 */
const root = join(import.meta.dirname, "../..");
const reports = join(root, ".cache/ci");
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const stop = new AbortController();
const stoppedWith = stopOnSignal(["SIGINT", "SIGTERM"], (reason) => stop.abort(reason));
const results: StepResult[] = [];

// `npm run deep -- flux fleet notify sources` plays them, since they need Flux's own controllers.
const withoutFlux = "--exclude=test/interop/{flux-recorder,fleet,notify,sources}/**";
// Real parts wait more than they compute.
const workers = `--maxWorkers=${2 * availableParallelism()}`;
const report = (name: string): readonly string[] => [
  "--reporter=./test/report/each-minute.ts",
  "--reporter=./test/report/json-with-differences.ts",
  `--outputFile.json=.cache/ci/${name}.json`,
];
const engineChecks: readonly Step[] = [
  { name: "engine build", command: ["engine/build.sh", "--check"] },
  { name: "engine tests", command: ["engine/test.sh"] },
];

async function run(step: Step, onLine?: (line: string) => void): Promise<StepResult> {
  const log = join(reports, `${step.name.replaceAll(" ", "-")}.log`);
  const result = await runStep(step, { log, say, signal: stop.signal, ...(onLine === undefined ? {} : { onLine }) });
  results.push(result);
  return result;
}

/**
 * Runs tests. Where at most five files failed, these run once more by themselves: a file that passes then has a race of its own,
 * which the counts name. It is to be mended, but says nothing about the change. Where there is no report, Node itself has crashed
 * (or a check before the tests failed, and fails again): the whole step runs once more, and the table names it.
 */
async function runVitest(step: Step, name: string): Promise<void> {
  const first = await run(step);
  if (first.outcome === "passed") return;
  const hasReport = existsSync(join(reports, `${name}.json`));
  const failedFiles = ["node", "test/report/try-again.ts", `.cache/ci/${name}.json`] as const;
  const second = hasReport
    ? await run({ ...step, name: `${step.name} again`, command: failedFiles })
    : await run({ ...step, name: `${step.name} after a crash` });
  if (second.outcome === "passed") results.splice(results.indexOf(first), 1);
}

/** Answers the names of the reports. */
async function runTests(): Promise<readonly string[]> {
  const installing = Promise.withResolvers<boolean>();
  const started = run(startRealParts, (line) => line.includes(": installing ") && installing.resolve(true));
  const areMissing = await Promise.race([installing.promise, started.then(() => false)]);
  const parts = async (): Promise<Readonly<Record<string, string>>> => {
    if ((await started).outcome !== "passed") throw new Error("the real parts did not start");
    return realPartsEnvironment();
  };
  if (!areMissing) {
    const all = ["npm", "test", "--", ...report("tests"), withoutFlux, workers] as const;
    await runVitest({ name: "tests", command: all, env: await parts() }, "tests");
    await otherChecks();
    return ["tests"];
  }
  const withoutParts = ["--project=embedded", "--project=infra", ...report("tests-without-parts")];
  const half = { name: "tests without parts", command: ["npm", "test", "--", ...withoutParts] } as const;
  await runVitest(half, "tests-without-parts");
  await otherChecks();
  // Also with Go, and more than one suite of the second half begins with it.
  const clients = 'await (await import("./test/interop/build-clients.ts")).buildClients()';
  await run({ name: "interop clients", command: ["node", "--input-type=module", "-e", clients] });
  const withParts = ["vitest", "run", "--project=real", ...report("tests-with-parts"), withoutFlux, workers] as const;
  await runVitest({ name: "tests with parts", command: withParts, env: await parts() }, "tests-with-parts");
  return ["tests-without-parts", "tests-with-parts"];
}

async function otherChecks(): Promise<void> {
  // Beside each other: the check for dead code uses one processor most of the time.
  await Promise.all([
    run({ name: "dead code", command: ["npm", "run", "--silent", "dead-code"] }),
    run({ name: "types of infra", command: ["tsc", "-p", "infra"] }),
    run({ name: "gates", command: ["npm", "run", "--silent", "gates"] }),
  ]);
  const changed = changedPaths(undefined);
  // Otherwise they can only say what they have said before.
  if (changed === undefined || [...changed].some((path) => path.startsWith("engine/"))) {
    for (const step of engineChecks) await run(step);
  }
}

async function main(): Promise<void> {
  // Of an earlier run.
  for (const path of globSync(join(reports, "*.{json,log}"))) rmSync(path);
  const files = (await runTests()).map((name) => `.cache/ci/${name}.json`);
  await run({ name: "planted faults", command: ["node", "test/faults/run.ts", "--most", "40", "--tested"] });
  await run({ name: "claims", command: ["node", "test/claims/check-claims.ts", ...files] });
  say(`\n${formatResults(results)}\n`);
  // One seed of the simulator is replayed only where it is named; Flagger, which takes long to build, is there in the deep checks.
  // No package registry has zsh, fish or jq itself (there is a rewrite of jq in Go, gojq): what needs them is not run where the
  // machine lacks them.
  const maySkip = "replays seed|interop/flagger/|completion of the installed command in (zsh|fish)|\\(jq is needed\\)";
  const counts = ["test/report/print-counts.ts", `--may-skip=${maySkip}`, ...files];
  await run({ name: "counts", command: ["node", ...counts] }, say);
  if (results.some(({ outcome }) => outcome !== "passed")) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  say(messageOf(stop.signal.aborted ? stop.signal.reason : error));
  process.exitCode = stoppedWith() ?? 1;
} finally {
  stopRealParts();
}
