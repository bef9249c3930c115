import { parentPort, workerData } from "node:worker_threads";
import { type SandboxImports, sandboxImports } from "./sandbox-imports.ts";
import type { EngineAnswer, EngineJob } from "./wasm-engine.ts";

/** The functions that `engine/main.go` exports. Numbers are addresses and lengths in the module's memory. */
interface Kustomize {
  readonly memory: WebAssembly.Memory;
  input(length: number): number;
  /** 0: built. 1: refused. 2: a panic, from which it recovered. */
  build(): number;
  output(): number;
  outputLength(): number;
}

/** A build ends with an answer, and with an answer alone: what is thrown in the module is one too. */
function perform(kustomize: Kustomize, host: SandboxImports, { request, maxOutputBytes }: EngineJob): EngineAnswer {
  // Warnings of earlier builds are of no use.
  host.takeSaid();
  try {
    const at = kustomize.input(request.length) >>> 0;
    new Uint8Array(kustomize.memory.buffer, at, request.length).set(request);
    const status = kustomize.build();
    const length = kustomize.outputLength() >>> 0;
    if (length > maxOutputBytes) return { kind: "tooMuchOutput" };
    const bytes = new Uint8Array(kustomize.memory.buffer, kustomize.output() >>> 0, length);
    const text = Buffer.from(bytes).toString();
    const memoryBytes = kustomize.memory.buffer.byteLength;
    return { kind: status === 0 ? "built" : "refused", text, memoryBytes, isBroken: status === 2 };
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    return { kind: "broken", why, said: host.takeSaid() };
  }
}

function instantiate(module: WebAssembly.Module): { kustomize: Kustomize; host: SandboxImports } {
  const host = sandboxImports(module);
  const { exports } = new WebAssembly.Instance(module, host.imports);
  assertKustomize(exports);
  host.attach(exports.memory);
  exports._initialize();
  return { kustomize: exports, host };
}

function assertKustomize(exports: object): asserts exports is Kustomize & { _initialize(): void } {
  const missing = ["_initialize", "memory", "input", "build", "output", "outputLength"].filter(
    (name) => !(name in exports),
  );
  if (missing.length > 0) throw new Error(`the engine's module does not export ${missing.join(", ")}`);
}

/** The thread that wasm-engine.ts starts: one instance of the module, one build at a time. */
if (parentPort !== null) {
  const port = parentPort;
  const { kustomize, host } = instantiate(moduleIn(workerData));
  port.on("message", (job: EngineJob) => port.postMessage(perform(kustomize, host, job)));
}

function moduleIn(data: unknown): WebAssembly.Module {
  if (data instanceof WebAssembly.Module) return data;
  throw new TypeError("the engine's thread is started with a module");
}
