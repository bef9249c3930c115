import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";

const intervalMs = 60_000;

/** Calls `work` every minute, the next one a minute after the last has ended; its failures are logged. */
export async function everyMinute(
  work: (signal: AbortSignal) => Promise<void>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    try {
      await clock.sleep(intervalMs, signal);
      await work(signal);
    } catch (error) {
      if (error !== signal.reason) log.warn("sweep not finished", { error: messageOf(error) });
    }
  }
}
