import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Engine } from "../lib/core/ports/engine.ts";
import { kustomizeModule, wasmEngine } from "../lib/engine/wasm-engine.ts";
import { engineLimits } from "../lib/manifests/build/build-by-engine.ts";
import { layerKubectl } from "../local/layer.ts";
import { type Figure, figure } from "./figure.ts";

const runs = 12;
const manifests = join(import.meta.dirname, "../examples/oddy-test/manifests");
/** Compiled code gets faster over the first builds of a thread, so they have a line of their own. */
const warmUps = 10;

type Files = ReadonlyMap<string, string>;

/** The time of the engine for a build, and of a `kubectl kustomize` process for the same files, in the same run. */
export async function engineBuild(): Promise<readonly Figure[]> {
  const small = await fourObjects();
  const first: number[] = [];
  for (let run = 0; run < 3; run++) {
    const fresh = wasmEngine({ file: kustomizeModule, threads: 1, idleMs: 60_000 });
    first.push(await timed(() => build(fresh, small)));
    await fresh.close();
  }
  const engine = wasmEngine({ file: kustomizeModule, threads: 1, idleMs: 60_000 });
  for (let run = 0; run < warmUps; run++) await build(engine, small);
  const warm: number[] = [];
  for (let run = 0; run < runs; run++) warm.push(await timed(() => build(engine, small)));
  const fiveHundred: number[] = [];
  for (let run = 0; run < 5; run++) fiveHundred.push(await timed(() => build(engine, configMaps(500))));
  const twoThousand = await timed(() => build(engine, configMaps(2_000)));
  await engine.close();

  await using kubectl = await kubectlOn(small);
  await kubectl.build();
  const asProcess: number[] = [];
  for (let run = 0; run < runs; run++) asProcess.push(await timed(() => kubectl.build()));
  await using kubectlFiveHundred = await kubectlOn(configMaps(500));
  const asProcessFiveHundred = await timed(() => kubectlFiveHundred.build());
  await using kubectlTwoThousand = await kubectlOn(configMaps(2_000));
  const asProcessTwoThousand = await timed(() => kubectlTwoThousand.build());
  return [
    figure("four objects, kustomization.yaml, engine, first of a process", "ms", first),
    figure("four objects, kustomization.yaml, engine, from the tenth on", "ms", warm),
    figure("500 objects, kustomization.yaml, engine", "ms", fiveHundred, { of: "median", atMost: 600 }),
    figure("2,000 objects, kustomization.yaml, engine", "ms", [twoThousand], { of: "max", atMost: 10_000 }),
    figure("four objects, kustomization.yaml, kubectl as a process", "ms", asProcess),
    figure("500 objects, kustomization.yaml, kubectl as a process", "ms", [asProcessFiveHundred]),
    figure("2,000 objects, kustomization.yaml, kubectl as a process", "ms", [asProcessTwoThousand]),
  ];
}

async function fourObjects(): Promise<Files> {
  const names = (await readdir(manifests)).filter((name) => name !== "kustomization.yaml");
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(join(manifests, name), "utf8")] as const),
  );
  return new Map([["kustomization.yaml", JSON.stringify({ namePrefix: "bench-", resources: names })], ...files]);
}

function configMaps(count: number): Files {
  const objects = Array.from(
    { length: count },
    (_, index) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c${index}\ndata:\n  key: value-${index}\n`,
  );
  return new Map([
    ["kustomization.yaml", "namespace: bench\nresources: [all.yaml]\n"],
    ["all.yaml", objects.join("---\n")],
  ]);
}

function build(engine: Engine, files: Files): Promise<string> {
  const tree = {
    files: new Map([...files].map(([path, text]) => [path, Buffer.from(text)])),
    folders: new Set([""]),
  };
  return engine.build({ tree, folder: "", spec: {} }, engineLimits, new AbortController().signal);
}

async function kubectlOn(files: Files): Promise<AsyncDisposable & { build(): Promise<unknown> }> {
  const kubectl = await layerKubectl(() => undefined);
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-kubectl-"));
  for (const [path, text] of files) await writeFile(join(folder, path), text);
  return {
    build: () => promisify(execFile)(kubectl, ["kustomize", folder], { maxBuffer: engineLimits.maxOutputBytes }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const at = performance.now();
  await work();
  return performance.now() - at;
}
