import { AsyncLocalStorage } from "node:async_hooks";
import { Worker } from "node:worker_threads";
import { noTenant, type Tenant } from "../core/tenant.ts";
import { fairTurns } from "./fair-turns.ts";
import { WorkerLimitReached, type WorkerLimits, workerLimit } from "./worker-limit.ts";

/** What one job may take. */
export interface JobLimits extends WorkerLimits {
  readonly maxHeapMb: number;
}

/** A job has reached a limit, which is the message: `10 s of processor time` or `512 MB of memory`. */
export class JobLimitReached extends Error {
  override readonly name = "JobLimitReached";
}

/** Threads that work at the same time, unless {@link limitThreads} says otherwise. Each may take the memory of its limit, and a processor. */
const maxThreads = 2;
/** A short-lived thread needs little room for new objects. */
export const youngHeapMb = 8;

// A run has one job at a time, so the runs of the process bound what waits.
let turn = fairTurns(maxThreads, Number.POSITIVE_INFINITY);
const tenants = new AsyncLocalStorage<Tenant>();

/** Lets so many threads work at the same time from now on. A process that has little memory says so at its start, before the first job. */
export function limitThreads(threads: number): void {
  turn = fairTurns(threads, Number.POSITIVE_INFINITY);
}

/** The place of one thread of {@link runJob}, for a thread of another kind that the process has no memory for beside it. */
export function threadTurn(tenant: Tenant, signal: AbortSignal): Promise<Disposable> {
  return turn(tenant, signal);
}

/** Runs `work`. All jobs that it starts, also indirectly, take the turns of this tenant. */
export function inTurnsOf<Result>(tenant: Tenant | undefined, work: () => Promise<Result>): Promise<Result> {
  return tenants.run(tenant ?? noTenant, work);
}

/**
 * Does one job in a thread of its own, which has ended when this returns, so that other runs go on meanwhile and its memory is
 * limited. Waits for its tenant's turn ({@link inTurnsOf}) if {@link maxThreads} threads work.
 *
 * @param program gets the job as `workerData`, and posts the result
 * @throws JobLimitReached; what the program throws; the reason `signal` was aborted with
 */
export async function runJob<Result>(
  program: URL,
  job: unknown,
  { maxHeapMb, ...limits }: JobLimits,
  signal: AbortSignal,
): Promise<Result> {
  using _turn = await turn(tenants.getStore() ?? noTenant, signal);
  const worker = new Worker(program, {
    workerData: job,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: youngHeapMb },
  });
  using limit = workerLimit(worker, limits);
  try {
    return await answerOf<Result>(worker, AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    signal.throwIfAborted();
    const reason: unknown = limit.signal.reason;
    if (reason instanceof WorkerLimitReached) throw new JobLimitReached(reason.message, { cause: error });
    if (isOutOfMemory(error)) throw new JobLimitReached(`${maxHeapMb} MB of memory`, { cause: error });
    throw error;
  } finally {
    await worker.terminate();
  }
}

/** The one message that a job ends with. */
function answerOf<Result>(worker: Worker, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error("the job was given up", { cause: signal.reason }));
    signal.addEventListener("abort", abort, { once: true });
    worker.once("message", (result: Result) => resolve(result));
    worker.once("error", reject);
    worker.once("exit", () => {
      signal.removeEventListener("abort", abort);
      reject(new Error("the thread ended without an answer"));
    });
  });
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
