import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bundle, bundleFunctions } from "../../../infra/bundle.ts";
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
});
