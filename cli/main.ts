import { homedir } from "node:os";
import { followLauncher } from "../local/follow-launcher.ts";
import { run } from "./run.ts";
import { terminal } from "./terminal.ts";

const stop = new AbortController();
for (const [signal, number] of [
  ["SIGINT", 2],
  ["SIGTERM", 15],
  ["SIGHUP", 1],
] as const) {
  process.once(signal, () => {
    stop.abort(new Error(`stopped by ${signal}`));
    process.exitCode = 128 + number;
  });
}
const following = followLauncher(process.env, () => {
  stop.abort(new Error("stopped: the process that started this one is gone"));
});

const code = await run(process.argv.slice(2), {
  terminal: terminal(
    (text) => process.stdout.write(text),
    (text) => process.stderr.write(text),
  ),
  env: process.env,
  homeDir: homedir(),
  signal: stop.signal,
});
following.stop();
process.exitCode ??= code;
