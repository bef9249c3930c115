import { JsonText } from "../../../lib/cel/cel.ts";
import { celLimits, celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import { maxJsonParts } from "../../../lib/core/json-text.ts";
import { kustomizeModule, wasmEngine } from "../../../lib/engine/wasm-engine.ts";
import { engineLimits } from "../../../lib/manifests/build/build-by-engine.ts";
import { defaultArchiveLimits } from "../../../lib/sources/archive/unpack.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;
const options = { threads: 1, idleMs: 60_000 };
/** What the thread of a module may take beside the process: its memory, and what is read and written. */
const [celMiB, kustomizeMiB] = [500, 1_200];

function evaluating(name: string, expression: string, value: () => JsonText): WorstInput {
  return {
    reader: "lib/cel/wasm-cel.ts",
    name,
    memoryMiB: celMiB,
    make: async () => {
      const cel = wasmCel({ ...options, file: celModule });
      const program = await cel.compileValue(expression, ["v"], signal);
      const v = value();
      return () => program.evaluate({ v }, signal).catch(messageOf);
    },
  };
}

/** A text of about this many bytes that repeats a part. */
function list(part: string, bytes: number): JsonText {
  return new JsonText(`{"a":[${`${part},`.repeat(Math.floor((bytes - 20) / (part.length + 1)))}${part}]}`);
}

function building(name: string, tree: () => ReadonlyMap<string, Uint8Array>): WorstInput {
  return {
    reader: "lib/engine/wasm-engine.ts",
    name,
    memoryMiB: kustomizeMiB,
    make: async () => {
      const engine = wasmEngine({ ...options, file: kustomizeModule });
      const small = { files: new Map([["a.yaml", Buffer.from("")]]), folders: new Set([""]) };
      // The module is loaded once in the life of a process.
      await engine.build({ tree: small, folder: "", spec: {} }, engineLimits, signal).catch(messageOf);
      const input = { tree: { files: tree(), folders: new Set(["", "d"]) }, folder: "", spec: {} };
      return () => engine.build(input, engineLimits, signal).catch(messageOf);
    },
  };
}

const kustomization = (text: string): [string, Uint8Array] => ["kustomization.yaml", Buffer.from(text)];

/** What is handed to kustomize and CEL, and what they answer. */
export const engineReaders: readonly WorstInput[] = [
  evaluating("values of 16 MiB", "size(v)", () => list("{}", celLimits.maxInputBytes)),
  evaluating("a result of 600,000 lists and commas", `[${"v,".repeat(29)}v]`, () => list("{}", 30_000)),
  evaluating("as many lists and commas in a result as are read", `[${"v,".repeat(9)}v]`, () =>
    list("[]", 3 * (maxJsonParts / 20) - 300),
  ),
  building("an artifact of 150 MiB in 100,000 files", () => {
    const count = defaultArchiveLimits.maxEntries - 10;
    const content = Buffer.alloc(Math.floor((150 * 1024 * 1024) / count), "a");
    const files = Array.from({ length: count }, (_, at): [string, Uint8Array] => [`d/${at}`, content]);
    return new Map([...files, kustomization("resources: []")]);
  }),
];
