import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { bundleFunctions } from "../infra/bundle.ts";
import { addRuntime } from "../test/real/lambda/add-runtime.ts";
import { readyMs } from "./cold-start.ts";
import { type Figure, figure } from "./figure.ts";
import { halfACore } from "./half-a-core.ts";

const starts = 10;
const builds = 5;

/** A function of 1 GB has 0.58 of a processor after its start: what a cold start and the first build after it take on half of one. */
export async function halfCoreStart(): Promise<readonly Figure[]> {
  using half = halfACore();
  if (half === undefined) {
    process.stderr.write("halfCoreStart is left out: this user may make no control group with the controller cpu\n");
    return [];
  }
  const bundles = await bundleFunctions(join(import.meta.dirname, "../.cache/bench/half-core"));
  const figures: Figure[] = [];
  for (const name of ["ingest", "reconcile"]) {
    const folder = bundles.find((bundle) => bundle.name === name)?.folder ?? "";
    await addRuntime(folder, { kind: "loop" });
    const times: number[] = [];
    for (let start = 0; start < starts; start += 1) times.push(await readyMs(folder, half.run));
    figures.push(figure(`cold start of ${name}, process to ready, half a core`, "ms", times));
  }
  const [first, second]: [number[], number[]] = [[], []];
  const reconcile = bundles.find(({ name }) => name === "reconcile")?.folder ?? "";
  for (let build = 0; build < builds; build += 1) {
    const program = [join(import.meta.dirname, "first-build-process.ts"), reconcile];
    const { stdout } = await promisify(execFile)(...half.run(process.execPath, program));
    const [one, two] = z.tuple([z.number(), z.number()]).parse(JSON.parse(stdout));
    first.push(one);
    second.push(two);
  }
  return [
    ...figures,
    figure("four objects, kustomization.yaml, engine, first of a process, half a core", "ms", first),
    figure("four objects, kustomization.yaml, engine, second of a process, half a core", "ms", second),
  ];
}
