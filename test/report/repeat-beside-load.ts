import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { z } from "zod";
import { messageOf } from "../../lib/core/failure.ts";
import { filesThatStartProcesses } from "./files-that-start-processes.ts";
import { type RepeatOptions, readArguments, usage } from "./repeat-options.ts";
import { suiteCounts, VitestReport } from "./suite-counts.ts";

/**
 * `node test/report/repeat-beside-load.ts`: runs test files again and again, each by itself, while other processes keep the processors
 * busy. A test that fails here now and then depends on the speed of the machine, or on the order of two processes. See docs/maintainers/testing.md.
 */
const project = join(import.meta.dirname, "../..");
const vitest = join(project, "node_modules/vitest/vitest.mjs");
const reporter = join(import.meta.dirname, "json-with-differences.ts");
/** Ends by itself once its parent is gone, however that ended. */
const burn = `
const parent = process.ppid;
while (process.ppid === parent) for (let step = 0; step < 1e8; step++);
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const running = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
}

const options = optionsOrEnd();
const root = options.root ?? project;
const files = options.files.length > 0 ? options.files : defaultFiles();
if (options.list) for (const file of files) say(file);
else {
  const work = mkdtempSync(join(tmpdir(), "sluice-repeat-"));
  try {
    process.exitCode = (await repeatAll(work)) ? 0 : 1;
  } finally {
    endAll();
    rmSync(work, { recursive: true });
  }
}

function optionsOrEnd(): RepeatOptions {
  try {
    const read = readArguments(process.argv.slice(2));
    if (read !== "help") return read;
    say(usage);
    return process.exit();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${usage}\n`);
    return process.exit(2);
  }
}

/** Those that use a real part, as vitest's project `real` has them, and those that start a process. */
function defaultFiles(): readonly string[] {
  const Listed = z.array(z.object({ file: z.string() }));
  const args = [vitest, "list", "--project=real", "--filesOnly", "--json"];
  const real = Listed.parse(JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" })));
  const all = globSync("{test,infra/test,packages/*/test}/**/*.test.ts", { cwd: root });
  const read = (file: string): string | undefined =>
    existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined;
  const names = [...real.map(({ file }) => relative(root, file)), ...filesThatStartProcesses(all, read)];
  return [...new Set(names)].toSorted();
}

function endAll(): void {
  for (const child of running) child.kill();
}

function start(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: root, stdio: "ignore" });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** Answers whether every file has passed each time. */
async function repeatAll(work: string): Promise<boolean> {
  for (let count = 0; count < options.burners; count++) start("-e", burn);
  let passedAll = true;
  for (const file of files) {
    const failures: string[] = [];
    let passed = 0;
    let isSkipped = false;
    for (let time = 1; time <= options.times; time++) {
      const { failed, ran } = await runOnce(file, join(work, "report.json"));
      if (failed.length === 0) passed += 1;
      else failures.push(...failed.map((text) => `  run ${time}: ${text}`));
      isSkipped ||= failed.length === 0 && ran === 0;
    }
    const count = options.times - passed;
    say(`${file}: ${passed} passed, ${count} failed${isSkipped ? " (no test was run: its part is missing)" : ""}`);
    for (const failure of failures) say(failure);
    passedAll &&= count === 0;
  }
  return passedAll;
}

/** What failed, each with its message, and how many tests were run. */
async function runOnce(
  file: string,
  report: string,
): Promise<{ readonly failed: readonly string[]; readonly ran: number }> {
  rmSync(report, { force: true });
  const reporting = [`--reporter=${reporter}`, `--outputFile.json=${report}`];
  const [code]: unknown[] = await once(start(vitest, "run", "--maxWorkers=1", ...reporting, file), "exit");
  if (!existsSync(report)) return { failed: [`${file}: vitest ended with ${String(code)} and gave no report`], ran: 0 };
  const read = VitestReport.parse(JSON.parse(readFileSync(report, "utf8")));
  const { failures, total } = suiteCounts(read, join(root, "test"));
  const failed = [...failures, ...(read.stray ?? [])];
  if (failed.length === 0 && code !== 0) failed.push(`${file}: vitest ended with ${String(code)}`);
  return { failed, ran: total.passed + total.failed };
}
