import { Failure } from "../core/failure.ts";
import type { JsonObject } from "../core/json.ts";
import { type Engine, EngineError, type EngineInput, type EngineLimits, type FileTree } from "../core/ports/engine.ts";
import type { BuildSpec } from "./build-spec.ts";
import { safeEngineMessage } from "./engine-message.ts";
import { parseOutputSafely } from "./off-thread.ts";

export const engineLimits: EngineLimits = {
  maxCpuMs: 60_000,
  maxWallMs: 120_000,
  maxOutputBytes: 64 * 1024 * 1024,
};

/** What kustomize makes of a folder. Throws a {@link Failure} `BuildFailed` in the words of Flux. */
export async function buildByEngine(
  tree: FileTree,
  folder: string,
  spec: BuildSpec,
  engine: Engine,
  signal: AbortSignal,
): Promise<{ objects: readonly JsonObject[]; text: string }> {
  const text = await engine.build(inputOf(tree, folder, spec), engineLimits, signal).catch((error: unknown) => {
    throw error instanceof EngineError ? refusal(error) : error;
  });
  const parsed = await parseOutputSafely(text, signal);
  switch (parsed.kind) {
    case "parsed":
      return { objects: parsed.objects, text };
    case "unacceptable":
      throw new Failure("BuildFailed", `kustomize build failed: ${parsed.why}`);
  }
}

function inputOf(tree: FileTree, folder: string, spec: BuildSpec): EngineInput {
  // Neither is kustomize's: the path is the folder, and common metadata is laid over what it has built.
  const { path: _path, commonMetadata: _commonMetadata, ...overlay } = spec;
  return { tree, folder, spec: overlay };
}

function refusal(error: EngineError): Failure {
  switch (error.kind) {
    case "refused":
      // Without its cause, whose message quotes what is left out here.
      return new Failure("BuildFailed", safeEngineMessage(error.message));
    case "time":
    case "memory":
    case "output":
    case "broken":
      return new Failure("BuildFailed", `kustomize build failed: ${error.message}`, { cause: error });
    case "unavailable":
      // An engine that does not start is no fault of the manifests, so the run is tried again soon.
      return new Failure("BuildFailed", `kustomize build failed: ${error.message}`, { cause: error, retry: "backoff" });
  }
}
