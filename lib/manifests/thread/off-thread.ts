import { Failure } from "../../core/failure.ts";
import { JobLimitReached, runJob } from "../../threads/thread-job.ts";
import type { PlainFile, PlainOutcome, PlainSpec } from "../build-plain.ts";
import { type ParsedOutput, parseOutput } from "../parse-output.ts";
import type { OpenedFile } from "../sealed/plain-values.ts";
import type { SealedPart, SealedSearch } from "../sealed/sealed-parts.ts";
import type { DocumentTemplate, SubstitutedDocument } from "../substitute/substitute-document.ts";

/** Larger inputs are read in a separate thread, so that other runs go on and its memory is limited. */
const offThreadBytes = 256 * 1024;
/** The same for the bytes of an object before and after its variables are replaced: it is also written. */
const offThreadDocumentBytes = 128 * 1024;
/** The same for a text that is only searched. */
const offThreadSearchedBytes = 1024 * 1024;
/** The steps of substitution that take about as long. */
const offThreadSteps = 1_000_000;
/** Of one job. */
export const readingLimits = { maxCpuMs: 10_000, maxWallMs: 120_000, maxHeapMb: 512 };

export type Job =
  | { readonly kind: "plain"; readonly files: readonly PlainFile[]; readonly spec: PlainSpec }
  | { readonly kind: "parse"; readonly text: string; readonly what: string | undefined }
  | { readonly kind: "seal"; readonly search: SealedSearch }
  | { readonly kind: "values"; readonly file: OpenedFile }
  | { readonly kind: "substitute"; readonly template: DocumentTemplate };

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
  const { attemptPlain } = await import("../build-plain.ts");
  return attemptPlain(files, spec);
}

/** {@link parseOutput}, in another thread if the text is large. */
export async function parseOutputSafely(text: string, signal: AbortSignal, what?: string): Promise<ParsedOutput> {
  return text.length <= offThreadBytes
    ? parseOutput(text, what)
    : run<ParsedOutput>({ kind: "parse", text, what }, signal);
}

/** `substituteDocument`, in another thread if that takes long. */
export async function substituteDocumentSafely(
  template: DocumentTemplate,
  signal: AbortSignal,
): Promise<Exclude<SubstitutedDocument, { readonly kind: "large" }>> {
  const { substituteDocument } = await import("../substitute/substitute-document.ts");
  const maxSteps = Math.min(template.maxSteps, offThreadSteps);
  const here = substituteDocument({ ...template, maxSteps, maxBytes: offThreadDocumentBytes });
  const isGivenUp = here.kind === "large" || (here.kind === "outOfSteps" && maxSteps < template.maxSteps);
  return isGivenUp ? run({ kind: "substitute", template }, signal) : here;
}

/** `sealedParts`, in another thread if the file is large. */
export async function sealedPartsSafely(search: SealedSearch, signal: AbortSignal): Promise<readonly SealedPart[]> {
  if (search.bytes.length > offThreadSearchedBytes) {
    // A part of an archive would take the whole of it along.
    return run({ kind: "seal", search: { ...search, bytes: new Uint8Array(search.bytes) } }, signal);
  }
  const { sealedParts } = await import("../sealed/sealed-parts.ts");
  return sealedParts(search);
}

/** `valuesOfFile`, in another thread if the file is large. */
export async function valuesOfFileSafely(file: OpenedFile, signal: AbortSignal): Promise<readonly string[]> {
  if (file.encrypted.length + file.plain.length > offThreadBytes) {
    return run({ kind: "values", file: { ...file, encrypted: new Uint8Array(file.encrypted) } }, signal);
  }
  const { valuesOfFile } = await import("../sealed/plain-values.ts");
  return valuesOfFile(file);
}

async function run<Result>(job: Job, signal: AbortSignal): Promise<Result> {
  try {
    return await runJob<Result>(new URL("./build-worker.ts", import.meta.url), job, readingLimits, signal);
  } catch (error) {
    if (!(error instanceof JobLimitReached)) throw error;
    const why = `reading the manifests takes more than ${error.message}`;
    throw new Failure("BuildFailed", `kustomize build failed: ${why}`, { cause: error });
  }
}
