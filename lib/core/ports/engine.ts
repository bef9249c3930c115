import { PortError } from "./port-error.ts";

/** What one run of the engine may use; past any of these it is killed with everything it started. */
export interface EngineLimits {
  readonly timeoutMs: number;
  /** Heap and address space. */
  readonly maxMemoryBytes: number;
  readonly maxOutputBytes: number;
}

/**
 * The judge of what a folder of manifests means: upstream kustomize, without plugins, without an environment and without
 * anything to reach on the network. It reads whatever a kustomization file names, so a folder is scanned before it gets here.
 */
export interface Engine {
  /**
   * The multi-document YAML that the kustomization in `folder` (an absolute path) builds to.
   * Throws an {@link EngineError} with the engine's own words where it refuses, or what `signal` was aborted with.
   */
  build(folder: string, limits: EngineLimits, signal: AbortSignal): Promise<string>;
}

/** Why the engine gave no output: it said no itself, or it was ended because a limit was reached. */
export type EngineErrorKind = "refused" | "time" | "memory" | "output" | "unavailable";

export class EngineError extends PortError<EngineErrorKind> {
  override readonly name = "EngineError";
}
