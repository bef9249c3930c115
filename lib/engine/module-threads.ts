import "./tier-up.ts";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { brotliDecompress } from "node:zlib";
import { orAborted } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import { formatJson } from "../core/json.ts";
import { PortError } from "../core/ports/port-error.ts";
import type { Tenant } from "../core/tenant.ts";
import { fairTurns, TooManyWaiting } from "../threads/fair-turns.ts";
import { WorkerLimitReached, workerLimit } from "../threads/worker-limit.ts";
import { newReplies, type Reply, writeReply } from "./replies.ts";

export interface ModuleOptions {
  /** The module, compressed with Brotli. */
  readonly file: string | URL;
  /** Requests at the same time, each in a thread of its own with a memory of its own. Further requests wait for their tenant's turn. */
  readonly threads: number;
  /** A thread that is idle for this long is ended. */
  readonly idleMs: number;
  /** The program of a thread that asks questions; absent for a module without questions. */
  readonly thread?: URL;
  /** A further turn that each request takes if the process has no memory for its thread beside others (`threadTurn`). */
  readonly sharedTurn?: (tenant: Tenant, signal: AbortSignal) => Promise<Disposable>;
}

/** The limits of one request. Its thread is ended when it reaches one of them. */
export interface RequestLimits {
  /** Processor time, so that no honest request fails because the machine is busy. */
  readonly maxCpuMs: number;
  /** From start to end, without the time that a request waits for another one. */
  readonly maxWallMs: number;
  readonly maxOutputBytes: number;
}

/** The message that starts a request in a thread. */
export interface ModuleJob {
  readonly request: Uint8Array<ArrayBuffer>;
  readonly maxOutputBytes: number;
  /** Where answers to questions go, see `replies.ts`; absent if there are none. */
  readonly replies?: SharedArrayBuffer;
}

/** How a request ended. `isBroken`: the module recovered from a panic, so its state may be corrupt and the thread is not used again. */
export type ModuleAnswer =
  | {
      readonly kind: "built" | "refused";
      readonly text: string;
      readonly memoryBytes: number;
      readonly isBroken: boolean;
    }
  | { readonly kind: "tooMuchOutput" }
  | { readonly kind: "broken"; readonly why: string; readonly said: string };

/** A question of a module to its host, while the thread waits for the answer. */
export interface ModuleQuestion {
  readonly question: string;
}

/** Answers the questions of one request: calls {@link answer} once for each. */
export type Questions = (question: string, answer: (reply: Reply) => void) => void;

/**
 * There is no answer: a time limit was reached (the message is the limit, for example `10 s`), the module did not start, or the
 * tenant already has {@link maxWaitingRequests} requests waiting.
 */
export class ModuleFault extends PortError<"busy" | "time" | "unavailable"> {
  override readonly name = "ModuleFault";
}

/** Requests of one tenant that may wait for a thread. */
export const maxWaitingRequests = 100;

/** Threads that answer requests by a WebAssembly module. Tenants with waiting requests take turns. */
export interface ModuleThreads {
  /** @param request makes the request once a thread is free. @throws ModuleFault, or the reason `signal` was aborted with */
  ask(
    tenant: Tenant,
    request: () => Uint8Array<ArrayBuffer>,
    limits: RequestLimits,
    signal: AbortSignal,
    questions?: Questions,
  ): Promise<ModuleAnswer>;
  close(): Promise<void>;
}

/**
 * The module is loaded, and a thread started, by the first request. A thread is ended if its request reaches a limit, breaks or is
 * aborted. The module limits its own memory (`engine/build.sh`).
 *
 * @param maxKeptMemoryBytes memory of a module never shrinks: a thread with more than this is not kept for the next request
 */
export function moduleThreads(
  { file, threads, idleMs, sharedTurn, thread }: ModuleOptions,
  maxKeptMemoryBytes: number,
): ModuleThreads {
  let loading: Promise<WebAssembly.Module> | undefined;
  let isClosed = false;
  const idle = new Map<Worker, NodeJS.Timeout>();
  const turns = fairTurns(threads, maxWaitingRequests);
  const turn = async (tenant: Tenant, signal: AbortSignal): Promise<Disposable> => {
    try {
      return await turns(tenant, signal);
    } catch (error) {
      throw error instanceof TooManyWaiting ? new ModuleFault("busy", error.message, { cause: error }) : error;
    }
  };

  const load = (): Promise<WebAssembly.Module> => {
    loading ??= loadModule(file).catch((error: unknown) => {
      loading = undefined;
      throw new ModuleFault("unavailable", messageOf(error), { cause: error });
    });
    return loading;
  };
  const take = async (signal: AbortSignal): Promise<Worker> => {
    for (const worker of idle.keys()) {
      forget(worker);
      return worker;
    }
    const worker = startThread(await orAborted(load(), signal), thread);
    // A thread may also end while no build waits for it, for example because the process runs out of threads.
    worker.on("error", () => undefined).once("exit", () => forget(worker));
    return worker;
  };
  const forget = (worker: Worker): void => {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  };
  const keep = (worker: Worker): void => {
    const end = (): void => {
      // Forgotten first: a thread that is ending must not be given to the next build.
      forget(worker);
      void worker.terminate();
    };
    idle.set(worker, setTimeout(end, idleMs).unref());
  };

  return {
    async ask(tenant, request, limits, signal, questions) {
      using _turn = await turn(tenant, signal);
      using _shared = await sharedTurn?.(tenant, signal);
      const worker = await take(signal);
      let answer: ModuleAnswer | undefined;
      try {
        const job = { request: request(), maxOutputBytes: limits.maxOutputBytes };
        const asking = questions === undefined ? job : { ...job, replies: newReplies() };
        answer = await ask(worker, asking, limits, signal, questions);
        return answer;
      } finally {
        if (answer !== undefined && isReusable(answer, maxKeptMemoryBytes) && !isClosed) keep(worker);
        else await worker.terminate();
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...idle.keys()].map((worker) => worker.terminate()));
    },
  };
}

async function loadModule(file: string | URL): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await promisify(brotliDecompress)(await readFile(file)));
}

const plainThread = new URL("./module-thread.ts", import.meta.url);

function startThread(module: WebAssembly.Module, thread = plainThread): Worker {
  const worker = new Worker(thread, {
    workerData: module,
    env: {},
    execArgv: [],
  });
  // An idle thread does not keep the process alive.
  worker.unref();
  return worker;
}

async function ask(
  worker: Worker,
  job: ModuleJob,
  limits: RequestLimits,
  signal: AbortSignal,
  questions: Questions | undefined,
): Promise<ModuleAnswer> {
  signal.throwIfAborted();
  using limit = workerLimit(worker, limits);
  try {
    return await answerOf(worker, job, AbortSignal.any([signal, limit.signal]), questions);
  } catch (error) {
    signal.throwIfAborted();
    const reason: unknown = limit.signal.reason;
    if (reason instanceof WorkerLimitReached) {
      throw new ModuleFault("time", reason.message, { cause: error });
    }
    throw new ModuleFault("unavailable", messageOf(error), { cause: error });
  }
}

function answerOf(
  worker: Worker,
  job: ModuleJob,
  signal: AbortSignal,
  questions: Questions | undefined,
): Promise<ModuleAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ModuleAnswer>();
  const onAbort = (): void => reject(new Error("the request was given up", { cause: signal.reason }));
  const onExit = (): void => reject(new Error("the thread ended without an answer"));
  const onMessage = (message: ModuleAnswer | ModuleQuestion): void => {
    if (!("question" in message)) return resolve(message);
    const { replies } = job;
    if (replies !== undefined) questions?.(message.question, (reply) => writeReply(replies, reply));
  };
  worker.on("message", onMessage).once("error", reject).once("exit", onExit);
  signal.addEventListener("abort", onAbort, { once: true });
  worker.ref();
  // Transferred, not copied: an artifact may have a hundred megabytes.
  worker.postMessage(job, [job.request.buffer]);
  return promise.finally(() => {
    worker.unref();
    worker.off("message", onMessage).off("error", reject).off("exit", onExit);
    signal.removeEventListener("abort", onAbort);
  });
}

function isReusable(answer: ModuleAnswer, maxKeptMemoryBytes: number): boolean {
  switch (answer.kind) {
    case "built":
    case "refused":
      return !answer.isBroken && answer.memoryBytes <= maxKeptMemoryBytes;
    case "tooMuchOutput":
    case "broken":
      return false;
  }
}

/** Whether a failed module had used up its memory. */
export function isOutOfMemory(said: string): boolean {
  return /out of memory|cannot allocate memory|cannot reserve|heap exhausted/i.test(said);
}

/** The output of Go's runtime about its own failure. Other lines may quote the request, which may contain a secret. */
export function runtimeFault(said: string): string | undefined {
  return /^(?:fatal error|runtime): [ -~]{1,200}/m.exec(said)?.[0];
}

const lengthBytes = 4;

/**
 * A request as the modules read it: the length of a JSON header as 32 bits little endian, the header, and contents one after the
 * other. They are not part of the JSON, since they may hold any bytes.
 */
export function framedRequest(header: object, contents: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const headerBytes = Buffer.from(formatJson(header));
  const length = contents.reduce((sum, content) => sum + content.length, lengthBytes + headerBytes.length);
  // A buffer of its own, which can be transferred to a thread.
  const request = new Uint8Array(length);
  new DataView(request.buffer).setUint32(0, headerBytes.length, true);
  let at = lengthBytes;
  for (const part of [headerBytes, ...contents]) {
    request.set(part, at);
    at += part.length;
  }
  return request;
}
