import { Worker } from "node:worker_threads";
import { Failure } from "../core/failure.ts";
import { WorkerLimitReached, workerLimit } from "../core/worker-limit.ts";
import type { PlainFile, PlainOutcome, PlainSpec } from "./build-plain.ts";
import { type ParsedOutput, parseOutput } from "./parse-output.ts";

/** Larger inputs are read in a separate thread, so that other runs go on and its memory is limited. */
const offThreadBytes = 256 * 1024;
const limits = { maxCpuMs: 10_000, maxWallMs: 120_000 };
const maxHeapMb = 512;
/** A short-lived thread needs little room for new objects. */
const maxYoungHeapMb = 8;

export type Job =
  | { readonly kind: "plain"; readonly files: readonly PlainFile[]; readonly spec: PlainSpec }
  | { readonly kind: "parse"; readonly text: string; readonly what: string | undefined };

/** `attemptPlain`, in another thread if the files are large. Each image of the spec is searched for in all of them, and each patch tried on them. */
export async function attemptPlainSafely(
  files: readonly PlainFile[],
  spec: PlainSpec,
  signal: AbortSignal,
): Promise<PlainOutcome> {
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  const passes = Math.max((spec.images?.length ?? 0) + (spec.patches?.length ?? 0), 1);
  if (bytes * passes > offThreadBytes) return run<PlainOutcome>({ kind: "plain", files, spec }, signal);
  // Not at the start of a function: a build that is remembered needs none of it.
  const { attemptPlain } = await import("./build-plain.ts");
  return attemptPlain(files, spec);
}

/** {@link parseOutput}, in another thread if the text is large. */
export async function parseOutputSafely(text: string, signal: AbortSignal, what?: string): Promise<ParsedOutput> {
  return text.length <= offThreadBytes
    ? parseOutput(text, what)
    : run<ParsedOutput>({ kind: "parse", text, what }, signal);
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
      throw refused(`reading the manifests takes more than ${reason.message}`, error);
    if (isOutOfMemory(error)) throw refused(`reading the manifests takes more than ${maxHeapMb} MB of memory`, error);
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
