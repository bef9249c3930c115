import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const Report = z.object({
  numFailedTests: z.number(),
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

/** What these tests said. */
export interface TestRun {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly skipped: number;
  /** Why a test file could not be loaded, for each such file. */
  readonly unloaded: readonly string[];
  /** An error that belongs to no test, such as an unhandled rejection. */
  readonly hasStrayError: boolean;
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
    ...["run", "--no-cache", "--reporter=json", `--outputFile=${output}`],
    // All tests at once share the processors, as in CI.
    ...(bail ? ["--bail=1"] : ["--testTimeout=120000"]),
    ...(named === undefined ? [] : ["-t", named.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)]),
    ...files,
  ];
  const hung = await ended(folder, args, which);
  const none = { passed: [], failed: [], skipped: 0, unloaded: [], hasStrayError: false, hung };
  if (!existsSync(output)) return hung ? none : { ...none, unloaded: ["vitest gave no report"] };
  const { success, testResults } = Report.parse(JSON.parse(readFileSync(output, "utf8")));
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const namesOf = (status: string) => tests.filter((test) => test.status === status).map(({ fullName }) => fullName);
  const failed = namesOf("failed");
  const unloaded = testResults
    .filter(({ status, assertionResults }) => status === "failed" && assertionResults.length === 0)
    .map(({ name, message }) => `${name}: ${message.split("\n", 1).join("")}`);
  const passed = namesOf("passed");
  const hasStrayError = !success && failed.length === 0 && unloaded.length === 0;
  return { passed, failed, skipped: tests.length - passed.length - failed.length, unloaded, hasStrayError, hung };
}

/** Answers whether it had to be killed, which also ends what it began. Throws the signal's reason. */
function ended(cwd: string, args: readonly string[], { timeoutMs, signal }: WhichTests): Promise<boolean> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: "ignore", detached: true });
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
