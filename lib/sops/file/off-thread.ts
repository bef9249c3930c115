import { JobLimitReached, runJob } from "../../threads/thread-job.ts";
import type { SopsFormat } from "../format.ts";
import type { SopsMetadata } from "../metadata.ts";
import { SopsFault } from "../sops-fault.ts";
import type { FileFormats } from "./open-file.ts";

/** A larger file is read in a separate thread, so that other runs go on and its memory is limited. */
export const offThreadBytes = 256 * 1024;
const limits = { maxCpuMs: 10_000, maxWallMs: 120_000, maxHeapMb: 512 };

export type SopsJob =
  /** Reads the file's metadata, which name the keys that open its data key. */
  | { readonly kind: "load"; readonly bytes: Uint8Array; readonly format: SopsFormat }
  /** Answers nothing. */
  | { readonly kind: "verify"; readonly bytes: Uint8Array; readonly format: SopsFormat; readonly dataKey: Uint8Array }
  /** Answers the bytes of the decrypted file. */
  | {
      readonly kind: "decrypt";
      readonly bytes: Uint8Array;
      readonly formats: FileFormats;
      readonly dataKey: Uint8Array;
    };

/** Plain data, since it comes from another thread. `fault`: the message of a {@link SopsFault}. */
export type SopsAnswer = { readonly result: SopsMetadata | Uint8Array | undefined } | { readonly fault: string };

/** The file's metadata. @throws SopsFault; the reason `signal` was aborted with */
export function loadOffThread(bytes: Uint8Array, format: SopsFormat, signal: AbortSignal): Promise<SopsMetadata> {
  return run<SopsMetadata>({ kind: "load", bytes, format }, signal);
}

/** Does the steps that need the data key. @throws SopsFault; the reason `signal` was aborted with */
export function openOffThread<Result extends Uint8Array | undefined>(
  job: Extract<SopsJob, { readonly dataKey: Uint8Array }>,
  signal: AbortSignal,
): Promise<Result> {
  return run<Result>(job, signal);
}

async function run<Result>(job: SopsJob, signal: AbortSignal): Promise<Result> {
  const program = new URL("./sops-thread.ts", import.meta.url);
  // A part of an archive would take the whole of it along.
  const own = { ...job, bytes: new Uint8Array(job.bytes) };
  const answer = await runJob<{ readonly result: Result } | { readonly fault: string }>(
    program,
    own,
    limits,
    signal,
  ).catch((error: unknown) => {
    if (!(error instanceof JobLimitReached)) throw error;
    throw new SopsFault(`reading the file takes more than ${error.message}`, { cause: error });
  });
  if ("fault" in answer) throw new SopsFault(answer.fault);
  return answer.result;
}
