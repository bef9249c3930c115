import { Failure } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import {
  type Engine,
  EngineError,
  type EngineInput,
  type EngineLimits,
  type FileTree,
} from "../../core/ports/engine.ts";
import type { BuildSpec } from "../build-spec.ts";
import { parseOutputSafely } from "../thread/off-thread.ts";

export const engineLimits: EngineLimits = {
  maxCpuMs: 60_000,
  maxWallMs: 120_000,
  maxOutputBytes: 64 * 1024 * 1024,
};

/** Builds a folder with kustomize. Throws a {@link Failure} `BuildFailed` with Flux's text. */
export async function buildByEngine(
  tree: FileTree,
  folder: string,
  spec: BuildSpec,
  engine: Engine,
  signal: AbortSignal,
): Promise<{ objects: readonly JsonObject[]; text: string }> {
  const text = await engine.build(inputOf(tree, folder, spec), engineLimits, signal).catch(async (error: unknown) => {
    throw error instanceof EngineError ? await refusal(error) : error;
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
  // kustomize needs neither: the path is the folder, and common metadata is added after the build.
  const { path: _path, commonMetadata: _commonMetadata, ...overlay } = spec;
  return { tree, folder, spec: overlay };
}

async function refusal(error: EngineError): Promise<Failure> {
  switch (error.reason) {
    case "refused": {
      // Not at the start of a function: kustomize has many messages.
      const { mendOf, safeEngineMessage } = await import("../engine-message.ts");
      // Without its cause, whose message quotes values that are hidden here.
      return new Failure("BuildFailed", `${safeEngineMessage(error.message)}${mendOf(error.message)}`);
    }
    case "time":
    case "memory":
    case "output":
    case "broken":
      return new Failure("BuildFailed", `kustomize build failed: ${error.message}`, { cause: error });
    case "unavailable":
    case "busy":
      // The manifests are not to blame for an engine that does not start or has too much to do, so the run is tried again soon.
      return new Failure("BuildFailed", `kustomize build failed: ${error.message}`, { cause: error, retry: "backoff" });
  }
}
