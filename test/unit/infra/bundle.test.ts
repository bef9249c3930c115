import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bundle, bundleFunctions } from "../../../infra/bundle.ts";
import { engineRequest } from "../../../lib/engine/engine-request.ts";
import { functionEnvironment } from "../../doubles/function-environment.ts";

let folder: string;
let bundles: readonly Bundle[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-bundles-"));
  bundles = await bundleFunctions(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Loads a bundle where nothing else of ours can be found, as Lambda does; what it exports, or what it failed with. */
async function load({ entry }: Bundle, env: Readonly<Record<string, string>>): Promise<string> {
  const script = `const bundle = await import(${JSON.stringify(pathToFileURL(entry).href)}); console.log(Object.keys(bundle).join(), typeof bundle.handler);`;
  try {
    const options = { env: { ...env }, cwd: folder };
    return (await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options)).stdout.trim();
  } catch (error) {
    return String(error);
  }
}

describe("the bundles of the functions", () => {
  test("are one a function; the threads of a build and the engine lie beside it", async () => {
    const files = await Promise.all(
      bundles.map(async ({ name, folder: own }) => [name, (await readdir(own)).toSorted()]),
    );
    expect(Object.fromEntries(files)).toEqual({
      ingest: ["index.mjs"],
      reconcile: ["build-worker.mjs", "engine-thread.mjs", "index.mjs", "kustomize.wasm.br"],
      sweep: ["index.mjs"],
    });
  });

  test("load without anything beside them, and reach for nothing before they are called", async () => {
    const loaded = await Promise.all(bundles.map((bundle) => load(bundle, functionEnvironment)));
    expect(loaded).toEqual(bundles.map(() => "handler function"));
  });

  test("fail at their start where a variable is missing, and name each", async () => {
    for (const said of await Promise.all(bundles.map((bundle) => load(bundle, { SLUICE_QUEUE_URL: "hunter2" })))) {
      expect(said).toContain("the function's environment is not usable");
      for (const name of ["AWS_REGION", "SLUICE_TABLE", "SLUICE_QUEUE_URL"]) expect(said).toContain(`${name} `);
      expect(said).not.toContain("hunter2");
    }
  });

  test("hold a thread that builds", async () => {
    const worker = join(folder, "reconcile", "build-worker.mjs");
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
    const thread = new Worker(worker, { workerData: { kind: "parse", text }, env: {} });
    const [answer]: readonly unknown[] = await once(thread, "message");
    await thread.terminate();
    expect(JSON.stringify(answer)).toContain('"name":"a"');
  });

  test("hold the engine: its thread builds with the module beside it", async () => {
    const own = join(folder, "reconcile");
    const module = await WebAssembly.compile(brotliDecompressSync(await readFile(join(own, "kustomize.wasm.br"))));
    const thread = new Worker(join(own, "engine-thread.mjs"), { workerData: module, env: {} });
    const files = new Map([
      ["kustomization.yaml", Buffer.from("resources: [a.yaml]\nnamePrefix: x-\n")],
      ["a.yaml", Buffer.from("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n")],
    ]);
    const request = engineRequest({ tree: { files, folders: new Set([""]) }, folder: "", spec: {} });
    thread.postMessage({ request, maxOutputBytes: 10_000 });
    const [answer]: readonly unknown[] = await once(thread, "message");
    await thread.terminate();
    expect(answer).toMatchObject({ kind: "built", text: expect.stringContaining("name: x-a") });
    // The function names it by its own address.
    expect(await readFile(join(own, "index.mjs"), "utf8")).toMatch(
      /new URL\("\.\/kustomize\.wasm\.br",\s*import\.meta\.url\)/,
    );
  });
});
