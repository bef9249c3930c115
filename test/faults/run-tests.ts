import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { reportVariable, TestReport } from "./test-report.ts";

/** What these tests said. */
export interface TestRun extends TestReport {
  /** Did not end in time. */
  readonly hung: boolean;
}

export interface WhichTests {
  readonly files: readonly string[];
  /** Part of a test's name with those of what is around it; undefined: every test. */
  readonly named: string | undefined;
  /** Ends with the first that fails. */
  readonly bail: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Runs tests of the project in this folder, in a process of their own. */
export async function runTests(folder: string, which: WhichTests): Promise<TestRun> {
  const output = join(folder, ".fault-report.json");
  rmSync(output, { force: true });
  const { named, bail, files } = which;
  const args = [
    join(folder, "node_modules/vitest/vitest.mjs"),
    ...["run", "--no-cache", `--reporter=${join(import.meta.dirname, "tell-run.ts")}`],
    // With a fault, a test that waits in vain is what is hoped for: its deadline is shorter than elsewhere.
    ...(bail ? ["--bail=1", "--testTimeout=60000", "--expect.poll.timeout=20000"] : []),
    ...(named === undefined ? [] : ["-t", named.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)]),
    ...files,
  ];
  const hung = await ended(folder, args, output, which);
  if (existsSync(output)) return { ...TestReport.parse(JSON.parse(readFileSync(output, "utf8"))), hung };
  const none = { passed: [], failed: [], skipped: 0, stray: [], hung };
  return { ...none, unloaded: hung ? [] : ["vitest gave no report"] };
}

/** Answers whether it had to be killed, which also ends what it began. Throws the signal's reason. */
function ended(
  cwd: string,
  args: readonly string[],
  output: string,
  { timeoutMs, signal }: WhichTests,
): Promise<boolean> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      ...{ cwd, stdio: "ignore", detached: true },
      env: { ...withoutOwnVariables(), [reportVariable]: output },
    });
    const kill = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    over.addEventListener("abort", kill);
    child.on("error", reject);
    child.on("exit", () => {
      over.removeEventListener("abort", kill);
      if (signal.aborted) reject(signal.reason);
      else resolve(over.aborted);
    });
  });
}

/** So that tests use no real part and have their default size: a fault is noticed everywhere as it is at home. */
function withoutOwnVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SLUICE_")));
}
