import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { brotliDecompress } from "node:zlib";
import { messageOf } from "../core/failure.ts";
import { orAborted } from "../core/or-aborted.ts";
import { type Engine, EngineError, type EngineLimits } from "../core/ports/engine.ts";
import { turns } from "../core/turns.ts";
import { WorkerLimitReached, workerLimit } from "../core/worker-limit.ts";
import { engineRequest } from "./engine-request.ts";

/** WebAssembly memory grows and never shrinks: a thread that took more than this for one build is not kept for the next. */
const maxKeptMemoryBytes = 192 * 1024 * 1024;

/** The module in a checkout. A bundle has it beside itself (`infra/bundle.ts`). */
export const kustomizeModule = new URL("../../engine/kustomize.wasm.br", import.meta.url);

/** The limit is the one that the module states (`engine/build.sh`). */
const outOfMemory =
  "it needs more than 512 MiB of memory: split the folder over several Kustomizations, or look for YAML aliases that expand";
const tooDeep =
  "it nests deeper than kustomize can follow: look for bases that include each other in a long chain, or for YAML of many levels";

export interface WasmEngineOptions {
  /** `engine/kustomize.wasm.br`: the module, compressed with Brotli. */
  readonly file: string | URL;
  /** Builds at the same time, each in a thread of its own with at most 512 MiB. Further builds wait for their turn. */
  readonly threads: number;
  /** A thread that builds nothing for so long is ended. */
  readonly idleMs: number;
}

/** What a thread is sent. */
export interface EngineJob {
  readonly request: Uint8Array<ArrayBuffer>;
  readonly maxOutputBytes: number;
}

/** How a build ended. `isBroken`: kustomize panicked, so its state may be odd and the thread is not used again. */
export type EngineAnswer =
  | {
      readonly kind: "built" | "refused";
      readonly text: string;
      readonly memoryBytes: number;
      readonly isBroken: boolean;
    }
  | { readonly kind: "tooMuchOutput" }
  | { readonly kind: "broken"; readonly why: string; readonly said: string };

/**
 * kustomize as WebAssembly. The module is loaded, and a thread started, when the first build needs it; a thread is ended when
 * a build reaches a limit, breaks or is aborted. The module states its own maximum of memory (`engine/build.sh`).
 */
export function wasmEngine({ file, threads, idleMs }: WasmEngineOptions): Engine & { close(): Promise<void> } {
  let loading: Promise<WebAssembly.Module> | undefined;
  let isClosed = false;
  const idle = new Map<Worker, NodeJS.Timeout>();
  const turn = turns(threads);

  const load = (): Promise<WebAssembly.Module> => {
    loading ??= loadModule(file).catch((error: unknown) => {
      loading = undefined;
      throw new EngineError("unavailable", `kustomize did not start: ${messageOf(error)}`, { cause: error });
    });
    return loading;
  };
  const take = async (signal: AbortSignal): Promise<Worker> => {
    for (const worker of idle.keys()) {
      forget(worker);
      return worker;
    }
    const worker = startThread(await orAborted(load(), signal));
    // It may also end while no build waits for an answer, as when the process runs out of threads.
    worker.on("error", () => undefined).once("exit", () => forget(worker));
    return worker;
  };
  const forget = (worker: Worker): void => {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  };
  const keep = (worker: Worker): void => {
    const end = (): void => {
      // Forgotten first: a thread that is about to end must not be given to the next build.
      forget(worker);
      void worker.terminate();
    };
    idle.set(worker, setTimeout(end, idleMs).unref());
  };

  return {
    async build(input, limits, signal) {
      using _turn = await turn(signal);
      const worker = await take(signal);
      let answer: EngineAnswer | undefined;
      try {
        answer = await ask(
          worker,
          { request: engineRequest(input), maxOutputBytes: limits.maxOutputBytes },
          limits,
          signal,
        );
        return outputOf(answer, limits);
      } finally {
        if (answer !== undefined && isReusable(answer) && !isClosed) keep(worker);
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

function startThread(module: WebAssembly.Module): Worker {
  const worker = new Worker(new URL("./engine-thread.ts", import.meta.url), {
    workerData: module,
    env: {},
    execArgv: [],
  });
  // It waits for the next build, and holds up no end of the process.
  worker.unref();
  return worker;
}

async function ask(worker: Worker, job: EngineJob, limits: EngineLimits, signal: AbortSignal): Promise<EngineAnswer> {
  signal.throwIfAborted();
  using limit = workerLimit(worker, limits);
  try {
    return await answerOf(worker, job, AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    signal.throwIfAborted();
    const reason: unknown = limit.signal.reason;
    if (reason instanceof WorkerLimitReached) {
      throw new EngineError("time", `no result within ${reason.message}`, { cause: error });
    }
    throw new EngineError("unavailable", `kustomize did not start: ${messageOf(error)}`, { cause: error });
  }
}

function answerOf(worker: Worker, job: EngineJob, signal: AbortSignal): Promise<EngineAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
  const onAbort = (): void => reject(new Error("the build was given up", { cause: signal.reason }));
  const onExit = (): void => reject(new Error("the thread ended without an answer"));
  worker.once("message", resolve).once("error", reject).once("exit", onExit);
  signal.addEventListener("abort", onAbort, { once: true });
  worker.ref();
  // Handed over and not copied: an artifact may have a hundred megabytes.
  worker.postMessage(job, [job.request.buffer]);
  return promise.finally(() => {
    worker.unref();
    worker.off("message", resolve).off("error", reject).off("exit", onExit);
    signal.removeEventListener("abort", onAbort);
  });
}

function outputOf(answer: EngineAnswer, { maxOutputBytes }: EngineLimits): string {
  switch (answer.kind) {
    case "built":
      return answer.text;
    case "refused":
      throw new EngineError("refused", answer.text);
    case "tooMuchOutput":
      throw new EngineError("output", `more than ${maxOutputBytes} bytes of output`);
    case "broken":
      if (/out of memory|cannot allocate memory|cannot reserve|heap exhausted/i.test(answer.said)) {
        throw new EngineError("memory", outOfMemory);
      }
      if (/call stack/i.test(answer.why)) throw new EngineError("broken", tooDeep);
      throw new EngineError("broken", `kustomize broke: ${runtimeFault(answer.said) ?? answer.why}`);
  }
}

function isReusable(answer: EngineAnswer): boolean {
  switch (answer.kind) {
    case "built":
    case "refused":
      return !answer.isBroken && answer.memoryBytes <= maxKeptMemoryBytes;
    case "tooMuchOutput":
    case "broken":
      return false;
  }
}

/** The words of Go's runtime about itself. Other lines may quote what was built, which may be a secret. */
function runtimeFault(said: string): string | undefined {
  return /^(?:fatal error|runtime): [ -~]{1,200}/m.exec(said)?.[0];
}
