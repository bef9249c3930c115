import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { wasmEngine } from "../lib/engine/wasm-engine.ts";
import { engineLimits } from "../lib/manifests/build/build-by-engine.ts";

/** Builds the demo's four objects twice and prints the milliseconds of each; the argument is the folder of the reconcile bundle. */
const [bundle = ""] = process.argv.slice(2);
const manifests = join(import.meta.dirname, "../examples/oddy-test/manifests");
const names = (await readdir(manifests)).filter((name) => name !== "kustomization.yaml");
const files = new Map([
  ["kustomization.yaml", Buffer.from(JSON.stringify({ namePrefix: "bench-", resources: names }))],
]);
for (const name of names) files.set(name, await readFile(join(manifests, name)));
const engine = wasmEngine({ file: join(bundle, "kustomize.wasm.br"), threads: 1, idleMs: 60_000 });
const { signal } = new AbortController();
const milliseconds: number[] = [];
for (let build = 0; build < 2; build += 1) {
  const at = performance.now();
  await engine.build({ tree: { files, folders: new Set([""]) }, folder: "", spec: {} }, engineLimits, signal);
  milliseconds.push(performance.now() - at);
}
await engine.close();
process.stdout.write(JSON.stringify(milliseconds));
