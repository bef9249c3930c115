import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { brotliDecompressSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { celModule } from "../../../lib/cel/wasm-cel.ts";
import { moduleMemoryMiB } from "../../../lib/engine/module-memory.ts";
import { sandboxImports, workingImports } from "../../../lib/engine/sandbox-imports.ts";
import { kustomizeModule } from "../../../lib/engine/wasm-engine.ts";

let module: WebAssembly.Module;

describe.each([
  { name: "kustomize.wasm", file: kustomizeModule, mebibytes: moduleMemoryMiB.kustomize, maxPages: 8192 },
  { name: "cel.wasm", file: celModule, mebibytes: moduleMemoryMiB.cel, maxPages: 4096 },
])("the module $name", ({ name, file, mebibytes, maxPages }) => {
  let bytes: Uint8Array;
  beforeAll(async () => {
    bytes = brotliDecompressSync(await readFile(file));
    module = await WebAssembly.compile(bytes);
  });

  test("has the digest in the file beside it", async () => {
    const recorded = await readFile(new URL(`${name}.sha256`, file), "utf8");
    expect(recorded.split(/\s/)[0]).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  test("imports only functions of WASI, no memory and no table", () => {
    const imports = WebAssembly.Module.imports(module);
    expect(new Set(imports.map(({ module: from }) => from))).toEqual(new Set(["wasi_snapshot_preview1"]));
    expect(new Set(imports.map(({ kind }) => kind))).toEqual(new Set(["function"]));
  });

  test(`limits its memory to ${mebibytes} MiB`, () => {
    expect(memoryLimits(bytes)).toMatchObject({ maxPages });
  });
});

describe("the host", () => {
  test("provides a clock, random numbers, an exit and a buffer for the output", () => {
    expect(workingImports).toEqual([
      "args_sizes_get",
      "clock_time_get",
      "environ_sizes_get",
      "fd_write",
      "proc_exit",
      "random_get",
    ]);
  });

  test("refuses every other function that the module imports", () => {
    const { imports } = sandboxImports(module);
    const wasi: Readonly<Record<string, () => unknown>> = imports["wasi_snapshot_preview1"] ?? {};
    const working = new Set<string>(workingImports);
    const others = Object.entries(wasi).filter(([name]) => !working.has(name));
    expect(others.map(([name]) => name)).toContain("path_open");
    expect(others.map(([name]) => name)).toContain("fd_read");
    // No descriptor, or not supported.
    const answers = others.map(([name, call]) => [name, call()]);
    expect(answers).toEqual(others.map(([name]) => [name, name === "fd_prestat_get" ? 8 : 52]));
  });

  test("provides no arguments and no environment variables of this process", () => {
    const host = sandboxImports(module);
    const memory = memoryOfPages(1);
    host.attach(memory);
    const wasi = host.imports["wasi_snapshot_preview1"] ?? {};
    new DataView(memory.buffer).setUint32(0, 77, true);
    new DataView(memory.buffer).setUint32(4, 77, true);
    expect(callWith(wasi["environ_sizes_get"], 0, 4)).toBe(0);
    expect([...new Uint32Array(memory.buffer, 0, 2)]).toEqual([0, 0]);
    new DataView(memory.buffer).setUint32(0, 77, true);
    expect(callWith(wasi["args_sizes_get"], 0, 4)).toBe(0);
    expect([...new Uint32Array(memory.buffer, 0, 2)]).toEqual([0, 0]);
  });

  test("keeps a few kilobytes of the output, whatever length the module claims, and refuses other descriptors", () => {
    const host = sandboxImports(module);
    const memory = memoryOfPages(1);
    host.attach(memory);
    const write = (host.imports["wasi_snapshot_preview1"] ?? {})["fd_write"];
    const view = new DataView(memory.buffer);
    new Uint8Array(memory.buffer, 64, 9).set(Buffer.from("last word"));
    view.setUint32(0, 64, true);
    view.setUint32(4, 9, true);
    expect(callWith(write, 2, 0, 1, 32)).toBe(0);
    expect(callWith(write, 3, 0, 1, 32)).toBe(8);
    expect(host.takeSaid()).toBe("last word");
    view.setUint32(4, 4_000_000_000, true);
    callWith(write, 2, 0, 1, 32);
    expect(host.takeSaid().length).toBeLessThanOrEqual(8 * 1024);
  });
});

function callWith(call: ((...values: never[]) => unknown) | undefined, ...values: readonly unknown[]): unknown {
  return call === undefined ? undefined : Reflect.apply(call, undefined, values);
}

/** A memory as a module would have it: the constructor of memories is not among our types. */
function memoryOfPages(pages: number): WebAssembly.Memory {
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  const memorySection = [0x05, 0x03, 0x01, 0x00, pages];
  const exportSection = [0x07, 0x05, 0x01, 0x01, 0x6d, 0x02, 0x00];
  const holder = new WebAssembly.Module(Uint8Array.from([...header, ...memorySection, ...exportSection]));
  const { m } = new WebAssembly.Instance(holder, {}).exports;
  if (!isMemory(m)) throw new Error("the module exports a memory");
  return m;
}

function isMemory(value: unknown): value is WebAssembly.Memory {
  return typeof value === "object" && value !== null && "buffer" in value;
}

/** The limits in the memory section: https://webassembly.github.io/spec/core/binary/modules.html#memory-section */
function memoryLimits(text: Uint8Array): { readonly minPages: number; readonly maxPages: number | undefined } {
  let at = 8;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = text[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < text.length) {
    const id = text[at++];
    const size = number();
    if (id !== 5) {
      at += size;
      continue;
    }
    number();
    const hasMaximum = text[at++] === 1;
    return { minPages: number(), maxPages: hasMaximum ? number() : undefined };
  }
  throw new Error("the module has no memory section");
}
