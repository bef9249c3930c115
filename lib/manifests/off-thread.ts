import { Worker } from "node:worker_threads";
import { Failure } from "../core/failure.ts";
import { WorkerLimitReached, workerLimit } from "../core/worker-limit.ts";
import { attemptPlain, type PlainOutcome } from "./attempt-plain.ts";
import type { PlainFile, PlainSpec } from "./build-plain.ts";
import { type ParsedOutput, parseOutput } from "./parse-output.ts";

/** What is larger is read in a thread of its own, so that other runs go on and its memory is its own. */
const offThreadBytes = 256 * 1024;
const limits = { maxCpuMs: 10_000, maxWallMs: 120_000 };
const maxHeapMb = 512;
/** New objects of a short-lived thread need little room of their own. */
const maxYoungHeapMb = 8;

export type Job =
  | { readonly kind: "plain"; readonly files: readonly PlainFile[]; readonly spec: PlainSpec }
  | { readonly kind: "parse"; readonly text: string };

/** {@link attemptPlain}, off this thread where the files are large. Each image of the spec is looked for in all of them. */
export async function attemptPlainSafely(
  files: readonly PlainFile[],
  spec: PlainSpec,
  signal: AbortSignal,
): Promise<PlainOutcome> {
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  if (bytes * Math.max(spec.images?.length ?? 0, 1) <= offThreadBytes) return attemptPlain(files, spec);
  return run<PlainOutcome>({ kind: "plain", files, spec }, signal);
}

/** {@link parseOutput}, off this thread where the text is large. */
export async function parseOutputSafely(text: string, signal: AbortSignal): Promise<ParsedOutput> {
  return text.length <= offThreadBytes ? parseOutput(text) : run<ParsedOutput>({ kind: "parse", text }, signal);
}

async function run<Result>(job: Job, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./build-worker.ts", import.meta.url), {
    workerData: job,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: maxYoungHeapMb },
  });
  using limit = workerLimit(worker, limits);
  try {
    return await answerOf<Result>(worker, AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    signal.throwIfAborted();
    const reason: unknown = limit.signal.reason;
    if (reason instanceof WorkerLimitReached)
      throw refused(`the manifests are not read within ${reason.message}`, error);
    if (isOutOfMemory(error)) throw refused(`the manifests need more than ${maxHeapMb} MB to read`, error);
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

function refused(why: string, cause: unknown): Failure {
  return new Failure("BuildFailed", `kustomize build failed: ${why}`, { cause });
}
