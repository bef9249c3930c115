import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../lib/core/failure.ts";
import { stopOnSignal } from "../../local/end-of-process.ts";
import { deepSteps } from "./deep-steps.ts";
import { realPartsEnvironment, startRealParts } from "./real-parts.ts";
import { formatResults, runStep, type StepResult } from "./run-step.ts";

/**
 * `npm run deep [-- NAME...] [--list]`: the checks that take too long for each change, one after the other, all of them or those
 * that are named. A table at the end says what ran, what it found and how long it took. See docs/maintainers/testing.md.
 */
const root = join(import.meta.dirname, "../..");
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const names = deepSteps.map(({ name }) => name).join(", ");
const stop = new AbortController();
const stoppedWith = stopOnSignal(["SIGINT", "SIGTERM"], (reason) => stop.abort(reason));

try {
  const { values, positionals } = parseArgs({ options: { list: { type: "boolean" } }, allowPositionals: true });
  const unknown = positionals.filter((name) => !deepSteps.some((step) => step.name === name));
  if (values.list === true) for (const { name, shows } of deepSteps) say(`${name.padEnd(15)} ${shows}`);
  else if (unknown.length > 0) fail(2, `no deep check named ${unknown.join(", ")}: there are ${names}`);
  else await runAll(deepSteps.filter(({ name }) => positionals.length === 0 || positionals.includes(name)));
} catch (error) {
  fail(stoppedWith() ?? 1, messageOf(stop.signal.aborted ? stop.signal.reason : error));
}

function fail(status: number, text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = status;
}

async function runAll(steps: typeof deepSteps): Promise<void> {
  const options = { say, signal: stop.signal };
  const log = (name: string): string => join(root, `.cache/deep/${name}.log`);
  const results: StepResult[] = [];
  let parts: Readonly<Record<string, string>> = {};
  if (steps.some(({ needsRealParts }) => needsRealParts)) {
    results.push(await runStep(startRealParts, { ...options, log: log("real-parts") }));
    parts = realPartsEnvironment();
  }
  for (const step of steps) {
    const env = step.needsRealParts ? { ...parts, ...step.env } : step.env;
    results.push(
      await runStep({ ...step, ...(env === undefined ? {} : { env }) }, { ...options, log: log(step.name) }),
    );
  }
  const { stdout } = spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" });
  say(`\nDeep checks of ${stdout.trim()}:\n${formatResults(results)}`);
  if (results.some(({ outcome }) => outcome === "failed")) process.exitCode = 1;
}
