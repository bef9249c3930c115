import { type Engine, EngineError, type EngineInput, type EngineLimits } from "../core/ports/engine.ts";
import { noTenant } from "../core/tenant.ts";
import { keptKustomizeMiB, moduleMemoryMiB } from "./module-memory.ts";
import {
  framedRequest,
  isOutOfMemory,
  type ModuleAnswer,
  ModuleFault,
  type ModuleOptions,
  moduleThreads,
  runtimeFault,
} from "./module-threads.ts";

/** The module in a checkout. In a Lambda bundle it lies beside the bundle (`infra/bundle.ts`). */
export const kustomizeModule = new URL("../../engine/kustomize.wasm.br", import.meta.url);

/** The limit is set in the module (`engine/build.sh`). */
const outOfMemory = `it needs more than ${moduleMemoryMiB.kustomize} MiB of memory: split the folder over several Kustomizations, or look for YAML aliases that expand`;
const tooDeep =
  "it nests deeper than kustomize can follow: look for bases that include each other in a long chain, or for YAML of many levels";

/** kustomize as WebAssembly. `options.file`: `engine/kustomize.wasm.br`. Each thread has at most 512 MiB. */
export function wasmEngine(options: ModuleOptions): Engine & { close(): Promise<void> } {
  const threads = moduleThreads(options, keptKustomizeMiB * 1024 * 1024);
  return {
    async build(input, limits, signal) {
      try {
        return outputOf(
          await threads.ask(input.tenant ?? noTenant, () => engineRequest(input), limits, signal),
          limits,
        );
      } catch (error) {
        if (!(error instanceof ModuleFault)) throw error;
        throw new EngineError(error.reason, `${unanswered[error.reason]}${error.message}`, { cause: error });
      }
    },
    close: () => threads.close(),
  };
}

const unanswered = {
  busy: "kustomize is busy: ",
  time: "no result within ",
  unavailable: "kustomize did not start: ",
} as const satisfies Record<ModuleFault["reason"], string>;

function outputOf(answer: ModuleAnswer, { maxOutputBytes }: EngineLimits): string {
  switch (answer.kind) {
    case "built":
      return answer.text;
    case "refused":
      throw new EngineError("refused", answer.text);
    case "tooMuchOutput":
      throw new EngineError("output", `more than ${maxOutputBytes} bytes of output`);
    case "broken":
      if (isOutOfMemory(answer.said)) throw new EngineError("memory", outOfMemory);
      if (/call stack/i.test(answer.why)) throw new EngineError("broken", tooDeep);
      throw new EngineError("broken", `kustomize broke: ${runtimeFault(answer.said) ?? answer.why}`);
  }
}

/** A build in the format that the module reads (`engine/internal/request/request.go`). */
export function engineRequest({ tree, folder, spec }: EngineInput): Uint8Array<ArrayBuffer> {
  const header = {
    folder,
    folders: [...tree.folders],
    files: [...tree.files].map(([path, { length }]) => [path, length]),
    spec,
  };
  return framedRequest(header, [...tree.files.values()]);
}
