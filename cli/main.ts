import "../local/small-heap.ts";
import { homedir } from "node:os";
import { followLauncher } from "../local/follow-launcher.ts";
import { closedPipeExitCode, onClosedPipe } from "../local/on-closed-pipe.ts";
import { stopOnSignal } from "../local/stop-on-signal.ts";
import { run } from "./run.ts";
import { terminal } from "./terminal.ts";

/** An orphan has a second from its launcher's death, of which noticing it took up to a quarter. */
const orphanEndsWithinMs = 500;
const names = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

const stop = new AbortController();
const stoppedWith = stopOnSignal(names, (reason) => stop.abort(reason));
let isPipeClosed = false;
onClosedPipe([process.stdout, process.stderr], () => {
  isPipeClosed = true;
  process.exitCode = closedPipeExitCode;
  stop.abort(new Error("stopped, since nobody reads the output"));
});
const following = followLauncher(process.env, () => {
  stop.abort(new Error("stopped, since the process that started this one is gone"));
  setTimeout(() => process.exit(1), orphanEndsWithinMs).unref();
});

const code = await run(process.argv.slice(2), {
  terminal: terminal(
    (text) => process.stdout.write(text),
    (text) => {
      if (!isPipeClosed) process.stderr.write(text);
    },
  ),
  env: process.env,
  homeDir: homedir(),
  stdin: process.stdin,
  signal: stop.signal,
  onSignal: (listener) => {
    for (const name of names) process.on(name, listener);
  },
  exit: (exitCode) => process.exit(exitCode),
});
following.stop();
process.exitCode = exitCodeOf(code);

function exitCodeOf(code: number): number {
  if (isPipeClosed) return closedPipeExitCode;
  return code === 0 ? code : (stoppedWith() ?? code);
}
