import { parseArgs, styleText } from "node:util";
import { messageOf } from "../lib/core/failure.ts";
import { NotAsTold, openStage, type Stage } from "./demo/stage.ts";
import { type Scene, scenes, type Told } from "./demo/story.ts";

/** `npm run demo`: plays the story of the README on a Sluice of its own and says, scene by scene, what came of it. */
const { values } = parseArgs({ options: { kubeconfig: { type: "string" }, context: { type: "string" } } });
const limit = AbortSignal.timeout(180_000);
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

async function main(): Promise<number> {
  const startedAt = performance.now();
  const { kubeconfig: file, context } = values;
  const foreign = file === undefined ? undefined : { file, ...(context === undefined ? {} : { context }) };
  try {
    await using stage = await openStage(foreign, limit);
    const { registry } = stage.sluice().ready;
    print(
      `Sluice started in ${Math.round(performance.now() - startedAt)} ms: registry ${registry}, cluster ${file ?? "embedded"}`,
    );
    for (const scene of scenes) await play(scene, stage);
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
