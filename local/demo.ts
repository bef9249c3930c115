import { parseArgs, styleText } from "node:util";
import { messageOf } from "../lib/core/failure.ts";
import { refuseLeftovers } from "./demo/refuse-leftovers.ts";
import { NotAsTold, openStage, type Stage } from "./demo/stage.ts";
import { type Scene, scenes, type Told } from "./demo/story.ts";
import { tidyUp } from "./demo/tidy-up.ts";
import { onClosedPipe } from "./on-closed-pipe.ts";

/** `npm run demo`: plays the story of the README on a Sluice of its own and says, scene by scene, what came of it. */
const { values } = parseArgs({ options: { kubeconfig: { type: "string" }, context: { type: "string" } } });
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort(new Error(`ended by ${name}`)));
onClosedPipe([process.stdout, process.stderr], () => stop.abort(new Error("nobody reads the output")));
const limit = AbortSignal.any([AbortSignal.timeout(180_000), stop.signal]);
const tidyUpWithinMs = 30_000;
const print = (line: string) => process.stdout.write(`${line}\n`);

async function play(scene: Scene, stage: Stage): Promise<void> {
  const at = performance.now();
  print(`\n${styleText("bold", scene.title)}`);
  tell(await scene.play(stage), performance.now() - at);
}

function tell({ hops, facts }: Told, tookMs: number): void {
  const timeline = Object.entries(hops).map(([hop, ms]) => `${hop} +${Math.round(ms)} ms`);
  print(`  ${timeline.join("   ")}   (scene: ${Math.round(tookMs)} ms)`);
  for (const fact of facts) print(`  ${styleText("green", "✔")} ${fact}`);
}

/** After a story that broke off, on a cluster that lives on. */
async function clearStage({ cluster }: Stage): Promise<void> {
  try {
    await tidyUp(cluster, AbortSignal.timeout(tidyUpWithinMs));
  } catch (error) {
    print(`${styleText("red", "✘")} the demo could not remove what it made: ${messageOf(error)}`);
  }
}

async function main(): Promise<number> {
  const startedAt = performance.now();
  const { kubeconfig: file, context } = values;
  const foreign = file === undefined ? undefined : { file, ...(context === undefined ? {} : { context }) };
  try {
    if (foreign !== undefined) await refuseLeftovers(foreign, limit);
    await using stage = await openStage(foreign, limit);
    const { registry } = stage.sluice().ready;
    print(
      `Sluice started in ${Math.round(performance.now() - startedAt)} ms: registry ${registry}, cluster ${file ?? "embedded"}`,
    );
    try {
      for (const scene of scenes) await play(scene, stage);
    } catch (error) {
      if (foreign !== undefined) await clearStage(stage);
      throw error;
    }
    const code = await stage.sluice().stop();
    if (code !== 0) throw new NotAsTold(`told: SIGTERM ends Sluice with exit code 0\nseen: ${String(code)}`);
  } catch (error) {
    if (!(error instanceof NotAsTold)) {
      print(`${styleText("red", "✘")} the demo could not go on: ${messageOf(error)}`);
      return 1;
    }
    print(`${styleText("red", "✘")} ${error.message}`);
    return 1;
  }
  print(`\nEverything came out as told, in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  return 0;
}

process.exit(await main());
