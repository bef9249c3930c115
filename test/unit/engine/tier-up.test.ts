import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const file = new URL("../../../lib/engine/tier-up.ts", import.meta.url);

/** A module that exports the function that it imports, so that a call goes from JavaScript into WebAssembly and back. */
const callsAnImport = `
  const section = (id, bytes) => [id, bytes.length, ...bytes];
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  const type = section(1, [1, 0x60, 0, 0]);
  const imported = section(2, [1, 1, 0x61, 1, 0x62, 0, 0]);
  const exported = section(7, [1, 1, 0x63, 0, 0]);
  const module = new WebAssembly.Module(new Uint8Array([...header, ...type, ...imported, ...exported]));
  const { exports } = new WebAssembly.Instance(module, { a: { b() {} } });
  for (let call = 0; call < 5_000; call++) exports.c();
  console.log(%HasUnoptimizedWasmToJSWrapper(exports.c) ? "generic" : "compiled");
`;

/** A module with a loop that counts down. By the count of V8 it runs for 40 million bytes of its code. */
const loops = `
  const section = (id, bytes) => [id, bytes.length, ...bytes];
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  const type = section(1, [1, 0x60, 1, 0x7f, 0]);
  const declared = section(3, [1, 0]);
  const exported = section(7, [1, 1, 0x63, 0, 0]);
  const countDown = [0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x0b];
  const code = section(10, [1, countDown.length + 1, 0, ...countDown]);
  const module = new WebAssembly.Module(new Uint8Array([...header, ...type, ...declared, ...exported, ...code]));
  const { exports } = new WebAssembly.Instance(module);
  for (let call = 0; call < 10; call++) exports.c(100_000);
  console.log(%IsTurboFanFunction(exports.c) ? "optimized" : "as first compiled");
`;

const settings = `await import(${JSON.stringify(file.href)});`;

async function printed(program: string): Promise<string> {
  // Without the last flag V8 optimizes in another thread, at some later time.
  const flags = ["--allow-natives-syntax", "--wasm-sync-tier-up"];
  const args = [...flags, "--input-type=module", "--eval", program];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

test("V8 compiles no wrapper for an import that a WebAssembly module calls often", async () => {
  expect(await printed(`${settings}\n${callsAnImport}`)).toBe("generic");
});

test("Node still compiles such a wrapper by itself, so the setting is still needed", async () => {
  expect(await printed(callsAnImport)).toBe("compiled");
});

test("V8 does not optimize a function of a WebAssembly module that has run for 40 million bytes of code", async () => {
  expect(await printed(`${settings}\n${loops}`)).toBe("as first compiled");
});

test("Node by itself would optimize it by then, so the setting is still needed", async () => {
  expect(await printed(loops)).toBe("optimized");
});
