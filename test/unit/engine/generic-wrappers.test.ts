import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const file = new URL("../../../lib/engine/generic-wrappers.ts", import.meta.url);

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

async function wrapperAfterCalls(before: string): Promise<string> {
  const args = ["--allow-natives-syntax", "--input-type=module", "--eval", `${before}\n${callsAnImport}`];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

test("V8 compiles no wrapper for an import that a WebAssembly module calls often", async () => {
  expect(await wrapperAfterCalls(`await import(${JSON.stringify(file.href)});`)).toBe("generic");
});

test("Node still compiles such a wrapper by itself, so the setting is still needed", async () => {
  expect(await wrapperAfterCalls("")).toBe("compiled");
});
