import type { ModuleAnswer, ModuleJob } from "./module-threads.ts";
import { type MoreImports, type SandboxImports, sandboxImports } from "./sandbox-imports.ts";

/** The functions that `engine/main.go` and `engine/cel/main.go` export. Numbers are addresses and lengths in the module's memory. */
interface GoModule {
  readonly memory: WebAssembly.Memory;
  input(length: number): number;
  /** 0: answered. 1: refused. 2: it panicked and recovered. */
  build(): number;
  output(): number;
  outputLength(): number;
}

/** Always answers: an error that the module throws becomes an answer too. */
export function perform(go: GoModule, host: SandboxImports, { request, maxOutputBytes }: ModuleJob): ModuleAnswer {
  // Discards the warnings of earlier requests.
  host.takeSaid();
  try {
    const at = go.input(request.length) >>> 0;
    new Uint8Array(go.memory.buffer, at, request.length).set(request);
    const status = go.build();
    const length = go.outputLength() >>> 0;
    if (length > maxOutputBytes) return { kind: "tooMuchOutput" };
    const bytes = new Uint8Array(go.memory.buffer, go.output() >>> 0, length);
    const text = Buffer.from(bytes).toString();
    const memoryBytes = go.memory.buffer.byteLength;
    return { kind: status === 0 ? "built" : "refused", text, memoryBytes, isBroken: status === 2 };
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    return { kind: "broken", why, said: host.takeSaid() };
  }
}

export function instantiate(
  module: WebAssembly.Module,
  more?: MoreImports,
): { readonly go: GoModule; readonly host: SandboxImports } {
  const host = sandboxImports(module, more);
  const { exports } = new WebAssembly.Instance(module, host.imports);
  assertGoModule(exports);
  host.attach(exports.memory);
  exports._initialize();
  return { go: exports, host };
}

function assertGoModule(exports: object): asserts exports is GoModule & { _initialize(): void } {
  const missing = ["_initialize", "memory", "input", "build", "output", "outputLength"].filter(
    (name) => !(name in exports),
  );
  if (missing.length > 0) throw new Error(`the module does not export ${missing.join(", ")}`);
}

/** The module of a thread. */
export function moduleIn(data: unknown): WebAssembly.Module {
  if (data instanceof WebAssembly.Module) return data;
  throw new TypeError("the thread of a module is started with a module");
}
