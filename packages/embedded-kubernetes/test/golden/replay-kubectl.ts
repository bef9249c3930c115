import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { type Bindings, difference, filledIn, textMatches } from "./placeholders.ts";
import type { RecordedStep } from "./recorded-case.ts";
import type { Replay } from "./replay.ts";

/** Runs the real kubectl, and compares what it asked and what it said. */
export async function replayKubectl(
  replay: Replay,
  step: RecordedStep,
  args: readonly string[],
): Promise<string | undefined> {
  const result = await run(replay, step, args, replay.proxy.url);
  const seen = replay.proxy.take();
  return step.silent === true ? undefined : compare(step, result, seen, replay.bindings);
}

interface Result {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  { scratch, bindings, kubectl }: Replay,
  step: RecordedStep,
  args: readonly string[],
  url: string,
): Promise<Result> {
  if (kubectl === undefined) throw new TypeError("a case that runs kubectl was given none");
  const kubeconfig = join(scratch, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigText(url));
  const editor = step.editor === undefined ? {} : { EDITOR: step.editor, KUBE_EDITOR: step.editor };
  const child = spawn(
    await kubectl(),
    ["--cache-dir", join(scratch, "cache"), ...args.map((argument) => filledIn(argument, bindings))],
    {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: scratch,
        KUBECONFIG: kubeconfig,
        TMPDIR: scratch,
        ...editor,
        ...step.env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  const documents = (step.stdin ?? []).map((document) => filledIn(JSON.stringify(document), bindings));
  child.stdin.end(documents.join("\n"));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { exit: child.exitCode ?? -1, stdout, stderr };
}

function kubeconfigText(url: string): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: url } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u", namespace: "golden-ns" } }],
    "current-context": "c",
    users: [{ name: "u", user: {} }],
  };
  return JSON.stringify(config);
}

function compare(
  { requests, stdout, stderr, exit = 0 }: RecordedStep,
  result: Result,
  seen: readonly JsonObject[],
  bindings: Bindings,
): string | undefined {
  if (result.exit !== exit) return `exit: recorded ${exit}, is ${result.exit}: ${result.stderr}${result.stdout}`;
  if (stdout !== undefined && !textMatches(stdout, result.stdout, bindings)) {
    return `stdout: recorded ${JSON.stringify(stdout)}, is ${JSON.stringify(result.stdout)}`;
  }
  if (stderr !== undefined && !textMatches(stderr, result.stderr, bindings)) {
    return `stderr: recorded ${JSON.stringify(stderr)}, is ${JSON.stringify(result.stderr)}`;
  }
  return requests === undefined ? undefined : compareRequests(requests, seen, bindings);
}

/** Both lists in an order of their own: requests are made at once. */
function compareRequests(
  recorded: readonly JsonObject[],
  seen: readonly JsonObject[],
  bindings: Bindings,
): string | undefined {
  const left = [...seen];
  for (const request of recorded) {
    const index = left.findIndex((one) => difference(request, one, new Map(bindings)) === undefined);
    const found = left[index];
    if (found === undefined) return `not asked: ${shown(request)}; asked: ${left.map(shown).join("\n")}`;
    difference(request, found, bindings);
    left.splice(index, 1);
  }
  return left.length === 0 ? undefined : `asked more than recorded: ${left.map(shown).join("\n")}`;
}

function shown(request: Json): string {
  return JSON.stringify(request).slice(0, 1200);
}
