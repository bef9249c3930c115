import { readFileSync } from "node:fs";

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type Stopping = keyof typeof numbers;

/**
 * Calls `stop` at the first of these signals; a second one ends the process at once, as Node does. Answers a function for the
 * exit code that a shell shows for the signal, 128 plus its number; undefined before the first signal.
 */
export function stopOnSignal(names: readonly Stopping[], stop: (reason: Error) => void): () => number | undefined {
  let exitCode: number | undefined;
  for (const name of names) {
    process.once(name, () => {
      exitCode = 128 + numbers[name];
      stop(new Error(`stopped by ${name}`));
    });
  }
  return () => exitCode;
}

/** The exit code of a program that SIGPIPE has ended: 128 plus the signal's number. Node itself ignores SIGPIPE. */
export const closedPipeExitCode = 141;

/**
 * Calls `listener` once the output of this process is no longer read, as behind `head`: the process should then end quietly.
 * Without a listener Node ends it with a stack trace.
 */
export function onClosedPipe(streams: readonly NodeJS.WritableStream[], listener: () => void): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      listener();
    });
  }
}

const checkEveryMs = 250;
const maxDepth = 8;

/**
 * Our own launcher, which starts Node 24 from an older Node, sets it for the process that it starts.
 *
 * @internal Exported for its tests.
 */
export const launcherVariable = "SLUICE_LAUNCHER";

/**
 * Calls `onGone` once, within a quarter of a second, after the launcher of this process (npx, npm, or our own on an older
 * Node) is gone. A killed launcher cannot notify us, and npx does not pass on every signal; but the system gives an orphan
 * another parent, which we can see for each process between us and the launcher.
 */
export function followLauncher(
  env: Readonly<Record<string, string | undefined>>,
  onGone: () => void,
): { stop(): void } {
  const chain = chainToLauncher(env);
  const timer = setInterval(() => {
    if (chain.every((pid, depth) => parentOf(depth === 0 ? process.pid : (chain[depth - 1] ?? 0)) === pid)) return;
    clearInterval(timer);
    onGone();
  }, checkEveryMs);
  timer.unref();
  if (chain.length === 0) clearInterval(timer);
  return { stop: () => clearInterval(timer) };
}

/** The processes from our parent up to the launcher; empty if there is no sign of a launcher. */
function chainToLauncher(env: Readonly<Record<string, string | undefined>>): readonly number[] {
  const isLaunched = env[launcherVariable] !== undefined;
  if (!isLaunched && env["npm_command"] === undefined) return [];
  const chain: number[] = [];
  for (let pid = parentOf(process.pid); pid !== undefined && pid > 0 && chain.length < maxDepth; pid = parentOf(pid)) {
    chain.push(pid);
    if (isNpm(pid)) return chain;
  }
  // If the launcher said that it is there, our parent is one; without /proc we cannot look further.
  return isLaunched ? chain.slice(0, 1) : [];
}

function isNpm(pid: number): boolean {
  // npm calls itself "npm exec …" once it runs; before that it is node with a script of that name.
  return /(^|\/)np[mx](-cli\.js)?[ \0]/.test(`${readProc(pid, "cmdline") ?? ""}\0`);
}

function parentOf(pid: number): number | undefined {
  if (pid === process.pid) return process.ppid;
  // The name in parentheses may hold anything, so the fields are counted from its end.
  const parent = /\) \S (\d+) [^)]*$/.exec(readProc(pid, "stat") ?? "")?.[1];
  return parent === undefined ? undefined : Number(parent);
}

function readProc(pid: number, file: "cmdline" | "stat"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // The process is gone, or the system has no /proc: either way it is unknown.
    return undefined;
  }
}
