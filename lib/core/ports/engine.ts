import { PortError } from "./port-error.ts";

/** Files in memory. Paths are relative, with `/` between names; the root is the empty path and a folder too. */
export interface FileTree {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly folders: ReadonlySet<string>;
}

/** What a build lays over the kustomization file of its folder, by the names of a Kustomization's spec (reference 3.9). */
export interface EngineSpec {
  readonly targetNamespace?: string;
  readonly namePrefix?: string;
  readonly nameSuffix?: string;
  readonly patches?: readonly { readonly patch: string; readonly target?: Readonly<Record<string, string>> }[];
  readonly images?: readonly {
    readonly name: string;
    readonly newName?: string;
    readonly newTag?: string;
    readonly digest?: string;
  }[];
  readonly components?: readonly string[];
  readonly ignoreMissingComponents?: boolean;
  readonly buildMetadata?: readonly string[];
}

export interface EngineInput {
  readonly tree: FileTree;
  /** The folder to build: one of the tree's. Without a kustomization file it gets one that lists the YAML files in it. */
  readonly folder: string;
  readonly spec: EngineSpec;
}

/** What one build may use. The build is ended when it reaches one of these. */
export interface EngineLimits {
  /** Processor time, so that a busy machine fails no honest build. */
  readonly maxCpuMs: number;
  /** From start to end. The time that a build waits for another one does not count. */
  readonly maxWallMs: number;
  readonly maxOutputBytes: number;
}

/**
 * The judge of what a folder of manifests means: upstream kustomize, in a sandbox that holds the tree and nothing else. There
 * is no file, environment, process or network address that a kustomization could name.
 */
export interface Engine {
  /**
   * The multi-document YAML that the folder builds to, in the order of the files.
   *
   * @throws EngineError whose message, where `kind` is `refused`, is the one that Flux shows; or what `signal` was aborted with
   */
  build(input: EngineInput, limits: EngineLimits, signal: AbortSignal): Promise<string>;
}

/** Why the engine gave no output: it refused the input, a limit was reached, it broke over the input, or it did not start. */
export type EngineErrorKind = "refused" | "time" | "memory" | "output" | "broken" | "unavailable";

export class EngineError extends PortError<EngineErrorKind> {
  override readonly name = "EngineError";
}
