/** The part of the WebAssembly API that the engine needs. TypeScript declares it only in its types for browsers. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    static imports(module: Module): { readonly module: string; readonly name: string; readonly kind: string }[];
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    private constructor();
    readonly buffer: ArrayBuffer;
  }
  class RuntimeError extends Error {}
  type Imports = Readonly<Record<string, Readonly<Record<string, (...values: never[]) => unknown>>>>;
  function compile(bytes: Uint8Array): Promise<Module>;
}
