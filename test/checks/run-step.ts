import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";

/** One command of the gate or of the deep checks. */
export interface Step {
  /** As it is called in the table and on the command line. */
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** What became of a step. `unavailable`: it could not run on this machine, and said why. */
export interface StepResult {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "unavailable";
  readonly seconds: number;
  /** The last line that it printed: commands end with what they found. */
  readonly found: string;
}

export interface RunStepOptions {
  /** Takes the whole output of the step. */
  readonly log: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Sees each line of the output that is not empty, without colours. */
  readonly onLine?: (line: string) => void;
  /** How long a step runs between two lines about it. */
  readonly everyMs?: number;
}

/** The exit status of a command that cannot run on this machine: its modules or its tools are missing. */
export const unavailableStatus = 3;

const root = join(import.meta.dirname, "../..");
const shownAtFailure = 80;

/**
 * Runs the command in the project's folder, and says every minute that it still runs, with its last line. If it fails, says its
 * last lines. Ends the command, and what it has started, when `signal` is aborted, and throws the signal's reason.
 */
export async function runStep(step: Step, options: RunStepOptions): Promise<StepResult> {
  const { log, say, signal, onLine, everyMs = 60_000 } = options;
  signal.throwIfAborted();
  mkdirSync(dirname(log), { recursive: true });
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1_000);
  const tail: string[] = [];
  say(`${step.name}: begins (${relative(root, log)})`);
  const timer = setInterval(
    () => say(`${step.name}: ${formatSeconds(seconds())}, ${tail.at(-1) ?? "no output yet"}`),
    everyMs,
  );
  try {
    const status = await statusOf(step, log, signal, (line) => {
      onLine?.(line);
      tail.push(line);
      if (tail.length > shownAtFailure) tail.shift();
    });
    signal.throwIfAborted();
    const outcome = status === 0 ? "passed" : status === unavailableStatus ? "unavailable" : "failed";
    if (outcome === "failed") say(`${step.name}: failed with ${status}, and ended with\n${tail.join("\n")}`);
    else say(`${step.name}: ${outcome} in ${formatSeconds(seconds())}`);
    return { name: step.name, outcome, seconds: seconds(), found: tail.at(-1) ?? "" };
  } finally {
    clearInterval(timer);
  }
}

/** Answers the exit status, or the name of the signal that ended the command. */
async function statusOf(
  { command: [program, ...args], env = {} }: Step,
  log: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<number | string> {
  // A group of its own, so that an interrupted step leaves no processes behind.
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const file = createWriteStream(log);
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(file, { end: false });
    createInterface({ input: stream }).on("line", (line) => {
      const text = stripVTControlCharacters(line).trimEnd();
      if (text !== "") onLine(text);
    });
  }
  const stop = (): void => endGroup(child);
  signal.addEventListener("abort", stop);
  try {
    return await new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, name) => resolve(code ?? name ?? "no status"));
    });
  } finally {
    signal.removeEventListener("abort", stop);
    file.end();
  }
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // It has ended by itself.
  }
}

/** 59 s, 2 min 5 s. */
export function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A table of the results, one line each, and what they took together. */
export function formatResults(results: readonly StepResult[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  return results
    .map(
      ({ name, outcome, seconds, found }) =>
        `${name.padEnd(width)}  ${outcome.padEnd("unavailable".length)}  ${formatSeconds(seconds).padStart(12)}  ${found.slice(0, 140)}`,
    )
    .join("\n");
}
