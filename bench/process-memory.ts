import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Resident memory of a process and all that it started, in MB (10^6 bytes). */
export function residentMb(pid: number): number {
  return treeOf(pid).reduce((sum, each) => sum + statusKb(each, "VmRSS"), 0) / 1000;
}

/** The peak resident memory of the process itself, in MB, without its children. */
function peakMb(pid: number): number {
  return statusKb(pid, "VmHWM") / 1000;
}

/** Seconds of processor time that the process and its children have used. */
export function cpuSeconds(pid: number): number {
  return treeOf(pid).reduce((sum, each) => {
    const fields = read(each, "stat").split(") ")[1]?.split(" ") ?? [];
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
  }, 0);
}

/** How many files and connections the process and its children have open. */
function openFiles(pid: number): number {
  return treeOf(pid).reduce((sum, each) => sum + filesOf(each).length, 0);
}

/** What a process and its children have used in a time. */
export interface Used {
  /** Seconds of processor time. */
  readonly cpu: number;
  /** The peak resident memory within the time, in MB: each process' own, added up. */
  readonly peakMb: number;
  /** Files and connections open at the end. */
  readonly openFiles: number;
}

/** Starts to measure a process; the answer ends it. */
export function watchUse(pid: number): () => Used {
  const before = cpuSeconds(pid);
  // Linux then counts the peak from here: proc_pid_clear_refs(5).
  for (const each of treeOf(pid)) writeFileSync(`/proc/${each}/clear_refs`, "5");
  return () => ({
    cpu: cpuSeconds(pid) - before,
    peakMb: treeOf(pid).reduce((sum, each) => sum + peakMb(each), 0),
    openFiles: openFiles(pid),
  });
}

/** Samples the memory of a process tree until stopped; answers the maximum. */
export function watchPeak(pid: number): { stop(): number } {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, residentMb(pid));
  }, 20);
  return {
    stop: () => {
      clearInterval(timer);
      return Math.max(most, peakMb(pid));
    },
  };
}

function treeOf(pid: number): readonly number[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), Number(read(Number(name), "stat").split(") ")[1]?.split(" ")[1] ?? 0)]),
  );
  const tree = [pid];
  for (const member of tree)
    tree.push(...[...parents].filter(([, parent]) => parent === member).map(([child]) => child));
  return tree;
}

function filesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    // The process has ended in the meantime.
    return [];
  }
}

function statusKb(pid: number, field: "VmRSS" | "VmHWM"): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(read(pid, "status"))?.[1] ?? 0) * 1.024;
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // The process has ended in the meantime.
    return "";
  }
}
