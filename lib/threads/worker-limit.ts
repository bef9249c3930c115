import type { Worker } from "node:worker_threads";

const checkEveryMs = 250;

/** How long one thread may work. */
export interface WorkerLimits {
  /** Processor time, which does not grow on a busy machine. */
  readonly maxCpuMs: number;
  /** Time by the clock, for a thread that waits forever. */
  readonly maxWallMs: number;
}

/** A thread has reached one of its limits. */
export class WorkerLimitReached extends Error {
  override readonly name = "WorkerLimitReached";
}

/**
 * Watches a thread from now on. `signal` is aborted with a {@link WorkerLimitReached} whose message is the limit, for example
 * `10 s`. Time that a reused thread has taken before does not count.
 */
export function workerLimit(
  worker: Worker,
  { maxCpuMs, maxWallMs }: WorkerLimits,
): Disposable & { readonly signal: AbortSignal } {
  const limit = new AbortController();
  const reached = (ms: number, what: string): void => limit.abort(new WorkerLimitReached(`${ms / 1000} s${what}`));
  const wall = setTimeout(() => reached(maxWallMs, ""), maxWallMs);
  const before = cpuMs(worker);
  const check = setInterval(() => {
    void Promise.all([before, cpuMs(worker)]).then(([then, now]) => {
      if (now - then >= maxCpuMs) reached(maxCpuMs, " of processor time");
    });
  }, checkEveryMs);
  return {
    signal: limit.signal,
    [Symbol.dispose]() {
      clearTimeout(wall);
      clearInterval(check);
    },
  };
}

/**
 * The processor time of a thread. Node 20 and 22, on which only the installed command runs, cannot tell it: there a thread is stopped by the
 * clock alone.
 */
async function cpuMs(worker: Worker): Promise<number> {
  const methods: object = worker;
  if (!("cpuUsage" in methods)) return 0;
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    // A thread that has not started yet, or has ended. Its caller learns of the end by other means.
    return 0;
  }
}
