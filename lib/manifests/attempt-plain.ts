import { buildPlain, type PlainBuild, type PlainFile, type PlainSpec } from "./build-plain.ts";
import { Unacceptable, Undecided } from "./read-failure.ts";

/** How a build in process ended; plain data, so that it can come from another thread. */
export type PlainOutcome =
  | { readonly kind: "built"; readonly build: PlainBuild }
  /** Only kustomize itself should build this. */
  | { readonly kind: "undecided"; readonly path: string; readonly why: string }
  /** Nobody should; `path` is empty where no single file is to blame. */
  | { readonly kind: "unacceptable"; readonly path: string; readonly line: number; readonly why: string };

export function attemptPlain(files: readonly PlainFile[], spec: PlainSpec): PlainOutcome {
  let path = "";
  try {
    return { kind: "built", build: buildPlain(files, spec, (next) => (path = next)) };
  } catch (error) {
    if (error instanceof Undecided) return { kind: "undecided", path, why: error.message };
    if (error instanceof Unacceptable) return { kind: "unacceptable", path, line: error.line, why: error.message };
    throw error;
  }
}
