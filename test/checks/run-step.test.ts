import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatResults, runStep, type StepResult } from "./run-step.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-step-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(script: string) {
  const said: string[] = [];
  const { signal } = new AbortController();
  const log = join(folder, "step.log");
  const result = await runStep(
    { name: "step", command: [process.execPath, "-e", script], env: { ONE: "1" } },
    { log, say: (line) => said.push(line), signal },
  );
  return { result, said, log: await readFile(log, "utf8") };
}

describe("a step of the checks", () => {
  test("passes with status 0, and its last line is the result; its output is in its log", async () => {
    const { result, log } = await run("console.log('first'); console.error(`found ${process.env.ONE}\\n\\n`)");
    expect(result).toMatchObject({ outcome: "passed", found: "found 1" });
    expect(log.split("\n").toSorted()).toEqual(["", "", "", "first", "found 1"]);
  });

  test("fails with any other status, and shows its last lines", async () => {
    const { result, said } = await run("console.log('expected 1, got 2'); process.exit(1)");
    expect(result).toMatchObject({ outcome: "failed", found: "expected 1, got 2" });
    expect(said.at(-1)).toBe("step: failed with 1, and ended with\nexpected 1, got 2");
  });

  test("is unavailable with status 3, if the machine lacks something", async () => {
    expect((await run("process.exit(3)")).result).toMatchObject({ outcome: "unavailable" });
  });

  test("that is killed fails", async () => {
    const { result, said } = await run("process.kill(process.pid, 'SIGKILL')");
    expect(result.outcome).toBe("failed");
    expect(said.at(-1)).toContain("failed with SIGKILL");
  });

  test("reports at each interval that it is still running, with its last line", async () => {
    const stop = new AbortController();
    const said: string[] = [];
    const say = (line: string): void => {
      said.push(line);
      if (line.endsWith("halfway")) stop.abort(new Error("seen"));
    };
    const command = [process.execPath, "-e", "console.log('halfway'); setInterval(() => {}, 1000)"] as const;
    const log = join(folder, "interval.log");
    const running = runStep({ name: "step", command }, { log, say, signal: stop.signal, everyMs: 10 });
    await expect(running).rejects.toThrow("seen");
    expect(said.at(-1)).toMatch(/^step: \d+ s, halfway$/);
  });

  test("ends with its child processes when the signal is aborted", async () => {
    const stop = new AbortController();
    const script = `require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      console.log("started"); setInterval(() => {}, 1000)`;
    const log = join(folder, "stopped.log");
    const command = [process.execPath, "-e", script] as const;
    const onLine = (): void => stop.abort(new Error("interrupted"));
    // Its output is closed only once its child has ended too.
    const running = runStep({ name: "step", command }, { log, say: () => {}, signal: stop.signal, onLine });
    await expect(running).rejects.toThrow("interrupted");
  });
});

test("the table lists each step with its outcome, its time and its result", () => {
  const results: readonly StepResult[] = [
    { name: "faults", outcome: "passed", seconds: 125, found: "every fault was noticed" },
    { name: "flux", outcome: "unavailable", seconds: 1, found: "no Go" },
  ];
  expect(formatResults(results).split("\n")).toEqual([
    "faults  passed          2 min 5 s  every fault was noticed",
    "flux    unavailable           1 s  no Go",
  ]);
});
