import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A process as its pid file has it: the second line tells it from a later process with the same number. */
export interface StartedProcess {
  readonly name: string;
  readonly pid: number;
  readonly startedAt: string;
}

export function writePidFile(folder: string, name: string, pid: number): void {
  writeFileSync(join(folder, `${name}.pid`), `${pid}\n${stateOf(pid)?.startedAt ?? ""}\n`);
}

/** The pid files of all processes that were started in the folder, whether they still run or not. */
export function readPidFiles(folder: string): readonly StartedProcess[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".pid"));
  } catch {
    return []; // Never started.
  }
  return names.map((file) => {
    const [pid = "", startedAt = ""] = readFileSync(join(folder, file), "utf8").split("\n");
    return { name: file.slice(0, -".pid".length), pid: Number(pid), startedAt };
  });
}

export function isAlive({ pid, startedAt }: StartedProcess): boolean {
  if (!(pid > 0)) return false;
  const state = stateOf(pid);
  // A zombie has ended; only its parent has not waited for it yet.
  if (state !== undefined) return state.startedAt === startedAt && state.letter !== "Z";
  try {
    // Without /proc, the number has to be enough.
    return startedAt === "" && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** From /proc/PID/stat, behind the name in brackets: the state, and the start in ticks since boot. */
function stateOf(pid: number): { readonly letter: string; readonly startedAt: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { letter: fields[0] ?? "", startedAt: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}
