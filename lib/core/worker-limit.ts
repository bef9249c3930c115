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

/**
 * Watches a thread from now on: `signal` is aborted with a {@link WorkerLimitReached} that names the limit, as `10 s`. What a
 * thread that is used again has taken before does not count.
 */
export function workerLimit(
  worker: Worker,
  { maxCpuMs, maxWallMs }: WorkerLimits,
): Disposable & { readonly signal: AbortSignal } {
  const limit = new AbortController();
  const reached = (ms: number, what: string): void => limit.abort(new WorkerLimitReached(`${ms / 1000} s${what}`));
  const wall = setTimeout(() => reached(maxWallMs, ""), maxWallMs);
  // A thread that is not up yet, or has ended, has no answer: its caller learns of the end by other means.
  const cpuMs = (): Promise<number> =>
    worker.cpuUsage().then(
      ({ user, system }) => (user + system) / 1000,
      () => 0,
    );
  const before = cpuMs();
  const look = setInterval(() => {
    void Promise.all([before, cpuMs()]).then(([then, now]) => {
      if (now - then >= maxCpuMs) reached(maxCpuMs, " of processor time");
    });
  }, lookEveryMs);
  return {
    signal: limit.signal,
    [Symbol.dispose]() {
      clearTimeout(wall);
      clearInterval(look);
    },
  };
}
