const success = 0;
const badDescriptor = 8;
const notSupported = 52;
/** Enough for Go's output before it exits; later stack traces are dropped. */
const maxSaidBytes = 8 * 1024;

/** The imports of a module instance, and access to its output. */
export interface SandboxImports {
  readonly imports: WebAssembly.Imports;
  /** Called with the instance's memory before anything in it runs. */
  attach(memory: WebAssembly.Memory): void;
  /** The module's standard output and error since the last call. */
  takeSaid(): string;
}

/**
 * The supported functions of WASI: those that Go's runtime needs to start, to read the clock and to report a failure
 * (engine/README.md).
 */
export const workingImports = [
  "args_sizes_get",
  "clock_time_get",
  "environ_sizes_get",
  "fd_write",
  "proc_exit",
  "random_get",
] as const;

/** A module's further functions, by name, in addition to those or in their place. `bytes`: its present memory. */
export type MoreImports = (bytes: () => Uint8Array) => Readonly<Record<string, (...values: never[]) => unknown>>;

/**
 * The host of the engine: a clock, random numbers, an exit, and a buffer for Go's output when it fails. There are no arguments,
 * environment variables, files or sockets. Every other imported function returns "not supported", so that a kustomization cannot
 * reach anything outside.
 *
 * Signatures: https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md
 */
export function sandboxImports(module: WebAssembly.Module, more: MoreImports = () => ({})): SandboxImports {
  let memory: WebAssembly.Memory | undefined;
  let said = "";
  const view = (): DataView => new DataView(bytes().buffer);
  const bytes = (): Uint8Array => {
    if (memory === undefined) throw new Error("the engine has no memory yet");
    return new Uint8Array(memory.buffer);
  };
  const writeZeros = (first: number, second: number): number => {
    view().setUint32(first, 0, true);
    view().setUint32(second, 0, true);
    return success;
  };
  const working: Record<(typeof workingImports)[number], (...values: never[]) => unknown> = {
    args_sizes_get: writeZeros,
    clock_time_get: (_clock: number, _precision: bigint, out: number) => {
      view().setBigUint64(out, process.hrtime.bigint(), true);
      return success;
    },
    environ_sizes_get: writeZeros,
    fd_write: (descriptor: number, vectors: number, count: number, written: number) => {
      if (descriptor !== 1 && descriptor !== 2) return badDescriptor;
      let length = 0;
      for (let index = 0; index < count; index++) {
        const at = view().getUint32(vectors + 8 * index, true);
        const size = view().getUint32(vectors + 8 * index + 4, true);
        if (said.length < maxSaidBytes) {
          said += Buffer.from(bytes().subarray(at, at + Math.min(size, maxSaidBytes))).toString();
        }
        length += size;
      }
      view().setUint32(written, length, true);
      return success;
    },
    proc_exit: (code: number) => {
      // Go does so when its memory is used up or its runtime fails.
      throw new Error(`it ended itself with code ${code}`);
    },
    random_get: (at: number, length: number) => {
      crypto.getRandomValues(bytes().subarray(at, at + length));
      return success;
    },
  };
  return {
    imports: importsOf(module, new Map(Object.entries({ ...working, ...more(bytes) }))),
    attach: (its) => (memory = its),
    takeSaid: () => {
      const text = said.slice(0, maxSaidBytes);
      said = "";
      return text;
    },
  };
}

function importsOf(
  module: WebAssembly.Module,
  working: ReadonlyMap<string, (...values: never[]) => unknown>,
): WebAssembly.Imports {
  const imports: Record<string, Record<string, (...values: never[]) => unknown>> = {};
  for (const wanted of WebAssembly.Module.imports(module)) {
    const functions = (imports[wanted.module] ??= {});
    functions[wanted.name] = working.get(wanted.name) ?? refusal(wanted.name);
  }
  return imports;
}

/** Go asks for preopened folders one by one until the answer is "bad descriptor". */
function refusal(name: string): () => number {
  return () => (name === "fd_prestat_get" ? badDescriptor : notSupported);
}
