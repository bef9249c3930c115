import { systemClock } from "../../lib/process/system-clock.ts";
import { deadlineMs } from "../deadline.ts";
import { isAlive, type StartedProcess } from "./pid-file.ts";

const patienceMs = 3_000;
const lookAgainMs = 50;

/** Ends processes and their children: TERM to all at once, KILL to those left after three seconds. */
export async function stopProcesses(processes: readonly StartedProcess[], signal: AbortSignal): Promise<void> {
  const left = await endAll(processes.filter(isAlive), "SIGTERM", patienceMs, signal);
  const survivors = await endAll(left, "SIGKILL", deadlineMs, signal);
  if (survivors.length > 0) {
    const names = survivors.map(({ name, pid }) => `${name} (${pid})`).join(", ");
    throw new Error(`could not be killed: ${names}. Look for a disk that hangs, and end them by hand`);
  }
}

async function endAll(
  processes: readonly StartedProcess[],
  how: "SIGTERM" | "SIGKILL",
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly StartedProcess[]> {
  for (const { pid } of processes) {
    try {
      // Each leads a session of its own, hence a group.
      process.kill(-pid, how);
    } catch {
      // Ended by itself in the meantime.
    }
  }
  const giveUpAt = performance.now() + waitMs;
  let left = processes;
  while (left.length > 0 && performance.now() < giveUpAt) {
    await systemClock.sleep(lookAgainMs, signal);
    left = left.filter(isAlive);
  }
  return left;
}
