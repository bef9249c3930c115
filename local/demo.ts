import { parseArgs, styleText } from "node:util";
import { messageOf } from "../lib/core/failure.ts";
import { refuseLeftovers } from "./demo/refuse-leftovers.ts";
import { NotAsTold, openStage, type Stage } from "./demo/stage.ts";
import { type Scene, scenes, type Told } from "./demo/story.ts";
import { tidyUp } from "./demo/tidy-up.ts";
import { closedPipeExitCode, onClosedPipe } from "./on-closed-pipe.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

/** `npm run demo`: plays the story of the README on a Sluice of its own and says, scene by scene, what came of it. */
const usage = "usage: npm run demo [-- --kubeconfig FILE [--context NAME]]";
const stop = new AbortController();
const stoppedWith = stopOnSignal(["SIGINT", "SIGTERM"], (reason) => stop.abort(reason));
let isPipeClosed = false;
onClosedPipe([process.stdout, process.stderr], () => {
  isPipeClosed = true;
  stop.abort(new Error("nobody reads the output"));
});
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

type Foreign = { readonly file: string; readonly context?: string };

/** The cluster that was named, undefined where none was. Throws an error with the reason where the arguments are no good. */
function readArguments(): Foreign | "help" | undefined {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { kubeconfig: text, context: text, help: { type: "boolean", short: "h" } } });
  const { kubeconfig: file, context, help } = values;
  if (help === true) return "help";
  if (file === undefined && context !== undefined) throw new Error("--context needs --kubeconfig FILE");
  return file === undefined ? undefined : { file, ...(context === undefined ? {} : { context }) };
}

async function main(): Promise<number> {
  let foreign: Foreign | "help" | undefined;
  try {
    foreign = readArguments();
  } catch (error) {
    process.stderr.write(`✘ ${messageOf(error)}\n${usage}\n`);
    return 2;
  }
  if (foreign !== "help") return playAll(foreign);
  print(usage);
  return 0;
}

async function playAll(foreign: Foreign | undefined): Promise<number> {
  const startedAt = performance.now();
  try {
    if (foreign !== undefined) await refuseLeftovers(foreign, limit);
    await using stage = await openStage(foreign, limit);
    const { registry } = stage.sluice().ready;
    print(
      `Sluice started in ${Math.round(performance.now() - startedAt)} ms: registry ${registry}, cluster ${foreign?.file ?? "embedded"}`,
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
    if (stop.signal.aborted) {
      // Whatever else was thrown came of that.
      print(`${styleText("red", "✘")} ${messageOf(stop.signal.reason)}`);
      return isPipeClosed ? closedPipeExitCode : (stoppedWith() ?? 1);
    }
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
