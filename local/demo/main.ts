import { randomBytes } from "node:crypto";
import { parseArgs, styleText } from "node:util";
import { messageOf } from "../../lib/core/failure.ts";
import { closedPipeExitCode, onClosedPipe, stopOnSignal } from "../end-of-process.ts";
import { canaryScenes, startStoryGateway } from "./canary-story.ts";
import { startGitHost } from "./git-host.ts";
import { gitScenes } from "./git-story.ts";
import { helmScenes } from "./helm-story.ts";
import { imageScenes } from "./images-story.ts";
import { startNotifyHosts } from "./notify-hosts.ts";
import { notifyScenes } from "./notify-story.ts";
import { refuseLeftovers, tidyUp } from "./objects.ts";
import { overlayScenes } from "./overlays-story.ts";
import { signedScenes } from "./signed-story.ts";
import { openStage, type Stage, UnexpectedOutcome } from "./stage.ts";
import { type Report, type Scene, scenes } from "./story.ts";

/** `npm run demo`: plays a story of docs/demo.md on a Sluice of its own and reports the outcome of each scene. */
const usage =
  "usage: npm run demo [-- canary | git | helm | images | notify | overlays | signed | --kubeconfig FILE [--context NAME]]";
const stop = new AbortController();
const stoppedWith = stopOnSignal(["SIGINT", "SIGTERM"], (reason) => stop.abort(reason));
let isPipeClosed = false;
onClosedPipe([process.stdout, process.stderr], () => {
  isPipeClosed = true;
  stop.abort(new Error("the output is no longer read"));
});
const limit = AbortSignal.any([AbortSignal.timeout(600_000), stop.signal]);
const tidyUpWithinMs = 120_000;
const print = (line: string) => process.stdout.write(`${line}\n`);

async function play(scene: Scene, stage: Stage): Promise<void> {
  const at = performance.now();
  print(`\n${styleText("bold", scene.title)}`);
  report(await scene.play(stage), performance.now() - at);
}

function report({ hops, facts }: Report, tookMs: number): void {
  const timeline = Object.entries(hops).map(([hop, ms]) => `${hop} +${Math.round(ms)} ms`);
  print(`  ${timeline.join("   ")}   (scene: ${Math.round(tookMs)} ms)`);
  for (const fact of facts) print(`  ${styleText("green", "✔")} ${fact}`);
}

/** Tidies up after a story that broke off on a cluster that stays. */
async function clearStage({ cluster }: Stage): Promise<void> {
  try {
    await tidyUp(cluster, AbortSignal.timeout(tidyUpWithinMs));
  } catch (error) {
    print(`${styleText("red", "✘")} the demo could not remove its objects: ${messageOf(error)}`);
  }
}

/** `foreign`: the cluster of the arguments, undefined for the embedded one. */
interface Asked {
  readonly story: Story;
  readonly foreign: Foreign | undefined;
}

/** `push`: the first story of docs/demo.md, which also plays on a foreign cluster. */
type Story = "push" | (typeof stories)[number];

/** The stories that run on the embedded cluster alone. */
const stories = ["canary", "git", "helm", "images", "notify", "overlays", "signed"] as const;

/** The scenes of a story that needs no other server. */
function scenesOf(story: Story): readonly Scene[] {
  switch (story) {
    case "helm":
      return helmScenes;
    case "overlays":
      return overlayScenes;
    case "signed":
      return signedScenes();
    case "canary":
    case "git":
    case "images":
    case "notify":
    case "push":
      return scenes;
  }
}

type Foreign = { readonly file: string; readonly context?: string };

/** The story to play. Throws an error with the reason for bad arguments. */
function readArguments(): Asked | "help" {
  const text = { type: "string" } as const;
  const options = { kubeconfig: text, context: text, help: { type: "boolean", short: "h" } } as const;
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  const { kubeconfig: file, context, help } = values;
  if (help === true) return "help";
  const [named, ...others] = positionals;
  const story = stories.find((one) => one === named) ?? "push";
  const unexpected = story === "push" ? named : others[0];
  if (unexpected !== undefined) throw new Error(`Unexpected argument '${unexpected}'`);
  if (file === undefined && context !== undefined) throw new Error("--context needs --kubeconfig FILE");
  if (file === undefined) return { story, foreign: undefined };
  if (story !== "push")
    throw new Error(`the story of ${story} plays on the embedded cluster alone: leave --kubeconfig out`);
  return { story, foreign: { file, ...(context === undefined ? {} : { context }) } };
}

async function main(): Promise<number> {
  let asked: Asked | "help";
  try {
    asked = readArguments();
  } catch (error) {
    process.stderr.write(`✘ ${messageOf(error)}\n${usage}\n`);
    return 2;
  }
  if (asked !== "help") return playAll(asked);
  print(usage);
  return 0;
}

async function playAll({ story, foreign }: Asked): Promise<number> {
  const startedAt = performance.now();
  try {
    await using host = story === "git" || story === "images" ? await startGitHost(limit) : undefined;
    const token = randomBytes(20).toString("hex");
    await using told = story === "notify" ? await startNotifyHosts(token) : undefined;
    await using gateway = story === "canary" ? await startStoryGateway(limit) : undefined;
    if (foreign !== undefined) await refuseLeftovers(foreign, limit);
    await using stage = await openStage(foreign, limit);
    const { registry } = stage.sluice().ready;
    print(
      `Sluice started in ${Math.round(performance.now() - startedAt)} ms: registry ${registry}, cluster ${foreign?.file ?? "embedded"}`,
    );
    try {
      const hosted = host === undefined ? scenesOf(story) : (story === "images" ? imageScenes : gitScenes)(host);
      const notified = told === undefined ? hosted : notifyScenes(told, token);
      for (const scene of gateway === undefined ? notified : canaryScenes(gateway)) await play(scene, stage);
    } catch (error) {
      if (foreign !== undefined) await clearStage(stage);
      throw error;
    }
    const code = await stage.sluice().stop();
    if (code !== 0) throw new UnexpectedOutcome("SIGTERM ends Sluice with exit code 0", String(code));
  } catch (error) {
    if (stop.signal.aborted) {
      // Any other error is a consequence of the stop.
      print(`${styleText("red", "✘")} ${messageOf(stop.signal.reason)}`);
      return isPipeClosed ? closedPipeExitCode : (stoppedWith() ?? 1);
    }
    if (!(error instanceof UnexpectedOutcome)) {
      print(`${styleText("red", "✘")} the demo failed: ${messageOf(error)}`);
      return 1;
    }
    print(`${styleText("red", "✘")} ${error.message}`);
    return 1;
  }
  print(`\nEverything came out as expected, in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  return 0;
}

process.exit(await main());
