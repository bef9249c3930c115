import { readFileSync } from "node:fs";

const checkEveryMs = 250;
const maxDepth = 8;

/**
 * Set by our own launcher, which reaches Node 24 from an older one, for the process that it starts.
 *
 * @internal Exported for its tests.
 */
export const launcherVariable = "SLUICE_LAUNCHER";

/**
 * Calls `onGone` once, within a quarter of a second, when a launcher (npx, npm, or our own on an older Node) that started
 * this process is gone. One that is killed cannot tell us and npx does not pass on every signal, but the system gives an
 * orphan another parent, and that shows at every process between us and the launcher.
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

/** The processes from our parent up to the launcher; none where nothing says that there is one. */
function chainToLauncher(env: Readonly<Record<string, string | undefined>>): readonly number[] {
  const isLaunched = env[launcherVariable] !== undefined;
  if (!isLaunched && env["npm_command"] === undefined) return [];
  const chain: number[] = [];
  for (let pid = parentOf(process.pid); pid !== undefined && pid > 0 && chain.length < maxDepth; pid = parentOf(pid)) {
    chain.push(pid);
    if (isNpm(pid)) return chain;
  }
  // The parent at least is known to be one where it said so; without /proc nobody can look further.
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
    // The process is gone, or the system has no /proc: both mean that nothing can be said of it.
    return undefined;
  }
}
