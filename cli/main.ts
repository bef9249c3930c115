import "../local/small-heap.ts";
import { homedir } from "node:os";
import { closedPipeExitCode, followLauncher, onClosedPipe, stopOnSignal } from "../local/end-of-process.ts";
import { wantsColours } from "./looks.ts";
import { run } from "./run.ts";
import { terminal } from "./terminal.ts";

/** An orphan ends within a second of its launcher's death, and may notice it only after a quarter of a second. */
const orphanEndsWithinMs = 500;
const names = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

const stop = new AbortController();
const stoppedWith = stopOnSignal(names, (reason) => stop.abort(reason));
let isPipeClosed = false;
onClosedPipe([process.stdout, process.stderr], () => {
  isPipeClosed = true;
  process.exitCode = closedPipeExitCode;
  stop.abort(new Error("stopped: the output is no longer read"));
});
const following = followLauncher(process.env, () => {
  stop.abort(new Error("stopped: the process that started this one is gone"));
  setTimeout(() => process.exit(1), orphanEndsWithinMs).unref();
});

const code = await run(process.argv.slice(2), {
  terminal: terminal(
    (text) => process.stdout.write(text),
    (text) => {
      if (!isPipeClosed) process.stderr.write(text);
    },
    {
      columns: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
      isScreen: process.stderr.isTTY,
      colours: {
        out: wantsColours(process.env, process.stdout.isTTY),
        err: wantsColours(process.env, process.stderr.isTTY),
      },
      confirm: process.stdin.isTTY && process.stderr.isTTY ? confirm : undefined,
    },
  ),
  env: process.env,
  homeDir: homedir(),
  cwd: process.cwd(),
  stdin: process.stdin,
  signal: stop.signal,
  onSignal: (listener) => {
    for (const name of names) process.on(name, listener);
  },
  exit: (exitCode) => process.exit(exitCode),
});
following.stop();
process.exitCode = exitCodeOf(code);

/** Asks on the terminal: true for `y` or `yes`, false for any other answer and for Ctrl-D. Throws when a signal stops it. */
async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  // Without a line editor of its own, which would take Ctrl-C for itself.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const { signal } = stop;
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    return /^y(es)?$/i.test((await Promise.race([lines.question(`${question} [y/N] `, { signal }), closed])).trim());
  } catch (error) {
    stop.signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
}

function exitCodeOf(code: number): number {
  if (isPipeClosed) return closedPipeExitCode;
  return code === 0 ? code : (stoppedWith() ?? code);
}
