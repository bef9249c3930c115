import { readFileSync } from "node:fs";
import { environmentOf } from "./addresses.ts";
import { partFolder } from "./folders.ts";
import type { Part } from "./part.ts";
import { partState } from "./part-state.ts";
import { isAlive, readPidFiles } from "./pid-file.ts";

/** Prints the state of every part; answers 0 if all are up. */
export async function status(parts: readonly Part[], say: (line: string) => void): Promise<number> {
  let worst = 0;
  for (const part of parts) {
    const state = await partState(part);
    if (state.kind !== "up") worst = 1;
    say(`${part.name}: ${state.kind === "broken" ? `broken: ${state.reason}` : state.kind}`);
    for (const { name, pid } of readPidFiles(partFolder(part.name)).filter(isAlive)) {
      say(`  ${name}: process ${pid}, ${megabytesOf(pid)} MB`);
    }
    if (state.kind !== "up") continue;
    for (const [name, value] of Object.entries(environmentOf(state.started.addresses))) say(`  ${name}=${value}`);
  }
  return worst;
}

/** Resident memory. */
function megabytesOf(pid: number): string {
  try {
    const kilobytes = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? "?" : `${Math.round(Number(kilobytes) / 1_024)}`;
  } catch {
    return "?"; // Ended just now, or a machine without /proc.
  }
}
