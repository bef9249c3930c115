import { readdirSync, readFileSync } from "node:fs";

/** Resident memory of a process and of all its descendants, in bytes; 0 where it is gone, or on a machine without /proc. */
export function memoryOf(pid: number): number {
  return residentBytes(pid) + childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), 0);
}

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+([0-9]+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return Number(kilobytes ?? 0) * 1_024;
}

/** Each thread has children of its own. */
function childrenOf(pid: number): readonly number[] {
  let threads: readonly string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // Ended just now.
  }
  const children = threads.flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).trim().split(" "));
  return children.filter((child) => child !== "").map(Number);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
