import { hostname, userInfo } from "node:os";
import { ApiError } from "../lib/core/ports/cluster.ts";
import type { Pause } from "../lib/gate/owner-object.ts";
import { describePause, pauseCluster, pauseOf, resumeCluster } from "../lib/gate/pause.ts";
import { lookCountsMs } from "../lib/gate/write-gate.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import type { Session } from "./session.ts";

/** `pause`: stops all writes of Sluice to the cluster. `by` is for people; the user and host of this process by default. */
export async function pauseWrites(by: string | undefined, { cluster, terminal, signal }: Session): Promise<void> {
  const { pause, isChanged } = await pauseCluster(by ?? author(), { cluster, clock: systemClock }, signal);
  if (!isChanged) {
    terminal.success(`this cluster is already ${describePause(pause)}`);
    return;
  }
  terminal.success(`this cluster is ${describePause(pause)}`);
  const seconds = lookCountsMs / 1_000;
  terminal.waiting(
    `no write starts after ${seconds} s; requests that arrive meanwhile are handled after sluice resume`,
  );
}

/** `resume` without a kind: lets the owner of the cluster write again. */
export async function resumeWrites({ cluster, terminal, signal }: Session): Promise<void> {
  const pause = await resumeCluster(cluster, signal);
  if (pause === undefined) {
    terminal.success("this cluster is not paused");
    return;
  }
  terminal.success(`this cluster is resumed; it was ${describePause(pause)}`);
  terminal.waiting("requests that arrived meanwhile start within about a minute");
}

/** Warns people who look at objects of a paused cluster. Says nothing where they may not read its owner object. */
export async function warnIfPaused({ cluster, terminal, signal }: Session): Promise<Pause | undefined> {
  try {
    const pause = await pauseOf(cluster, signal);
    if (pause !== undefined)
      terminal.warning(`this cluster is ${describePause(pause)}: nothing changes until sluice resume`);
    return pause;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Who gives a command, for people: `eve@laptop`. */
export function author(): string {
  // A user without an entry in the password file, as in many containers, has a number only.
  const user = (): string => {
    try {
      return userInfo().username;
    } catch {
      return `user ${process.getuid?.() ?? "unknown"}`;
    }
  };
  return `${user()}@${hostname()}`;
}
