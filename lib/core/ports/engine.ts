import type { Tenant } from "../tenant.ts";
import { PortError } from "./port-error.ts";

/** Files in memory. Paths are relative, with `/` between names; the root is the empty path and a folder too. */
export interface FileTree {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly folders: ReadonlySet<string>;
}

/** The fields of a Kustomization's spec that a build adds to the kustomization file of its folder (reference 3.9). */
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
  /** The build waits for this tenant's turn; undefined for a build without an object. */
  readonly tenant?: Tenant | undefined;
  readonly tree: FileTree;
  /** The folder of the tree to build. If it has no kustomization file, it gets one that lists its YAML files. */
  readonly folder: string;
  readonly spec: EngineSpec;
}

/** The limits of one build. It is ended when it reaches one of them. */
export interface EngineLimits {
  /** Processor time, so that no honest build fails because the machine is busy. */
  readonly maxCpuMs: number;
  /** From start to end, without the time that a build waits for another one. */
  readonly maxWallMs: number;
  readonly maxOutputBytes: number;
}

/**
 * Builds a folder of manifests: upstream kustomize in a sandbox that contains the tree and nothing else. There is no file,
 * environment, process or network address that a kustomization could name.
 */
export interface Engine {
  /**
   * The multi-document YAML of the folder's build, in the order of the files.
   *
   * @throws EngineError, with Flux's message if its reason is `refused`; or the reason `signal` was aborted with
   */
  build(input: EngineInput, limits: EngineLimits, signal: AbortSignal): Promise<string>;
}

/**
 * Why the engine gave no output: it refused the input, it reached a limit, it crashed on the input, it did not start, or too many
 * builds of the tenant are waiting for it.
 */
export type EngineErrorReason = "refused" | "time" | "memory" | "output" | "broken" | "unavailable" | "busy";

export class EngineError extends PortError<EngineErrorReason> {
  override readonly name = "EngineError";
}
