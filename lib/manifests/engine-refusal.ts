import { Failure } from "../core/failure.ts";
import type { EngineError } from "../core/ports/engine.ts";
import { joinPath } from "./artifact-tree.ts";
import { safeEngineMessage } from "./engine-message.ts";

/** A refusal of the engine as Flux words it. `folder`: the built folder in the artifact. */
export function engineRefusal(error: EngineError, folder: string, generated: boolean): Failure {
  const decoding = generated ? decodeFailure(error.message) : undefined;
  const said =
    decoding === undefined
      ? `kustomize build failed: ${error.message}`
      : `failed to decode Kubernetes YAML from ${joinPath(folder, decoding.file)}: ${decoding.why}`;
  const message = error.kind === "refused" ? safeEngineMessage(said) : said;
  // A kubectl that does not start is no fault of the manifests: soon tried again.
  return new Failure("BuildFailed", message, {
    cause: error,
    ...(error.kind === "unavailable" && { retry: "backoff" }),
  });
}

/**
 * Flux reads every file of a folder without a kustomization before it builds, and words what it finds by itself.
 * kustomize finds the same in the same order while it builds, wrapped in words of its own.
 */
function decodeFailure(message: string): { file: string; why: string } | undefined {
  const malformed =
    /^accumulating resources: accumulating resources from '\.\/([^']+)': ([\s\S]*) in File: \.\/\1$/.exec(message);
  const unusable =
    /^accumulating resources: accumulation err='accumulating resources from '\.\/([^']+)': ([\s\S]*)': must build at directory: /.exec(
      message,
    );
  const [, file, why] = malformed ?? unusable ?? [];
  if (file === undefined || why === undefined || why.startsWith("may not add resource")) return undefined;
  return { file, why };
}
