import type { Worker } from "node:worker_threads";

const lookEveryMs = 250;

/** What one thread may take. */
export interface WorkerLimits {
  /** Of the processor: a busy machine makes no honest job fail. */
  readonly maxCpuMs: number;
  /** Behind it, for a thread that waits for what never comes. */
  readonly maxWallMs: number;
}

/** A thread has taken more than it may. */
export class WorkerLimitReached extends Error {
  override readonly name = "WorkerLimitReached";
}

/** Watches a thread: `signal` is aborted with a {@link WorkerLimitReached} that names the limit, as `10 s`. */
export function workerLimit(
  worker: Worker,
  { maxCpuMs, maxWallMs }: WorkerLimits,
): Disposable & { readonly signal: AbortSignal } {
  const limit = new AbortController();
  const reached = (ms: number, what: string): void => limit.abort(new WorkerLimitReached(`${ms / 1000} s${what}`));
  const wall = setTimeout(() => reached(maxWallMs, ""), maxWallMs);
  const look = setInterval(() => {
    worker.cpuUsage().then(
      ({ user, system }) => {
        if ((user + system) / 1000 >= maxCpuMs) reached(maxCpuMs, " of processor time");
      },
      // The thread is not up yet or has ended: whoever waits for its answer hears of that.
      () => undefined,
    );
  }, lookEveryMs);
  return {
    signal: limit.signal,
    [Symbol.dispose]() {
      clearTimeout(wall);
      clearInterval(look);
    },
  };
}
