import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { textAt } from "../../cli/objects/read-object.ts";
import { CanarySpec } from "../../lib/api/canary.ts";
import { intervalMs } from "../../lib/canary/analysis.ts";
import type { Manifest } from "../../lib/core/manifest.ts";
import { layerKubectl } from "../../local/layer.ts";
import { deadlineMs, withinDeadline } from "../deadline.ts";
import { runCommand } from "../doubles/run-command.ts";
import { blocksToRun } from "../unit/documents/page-blocks.ts";
import { rolloutOf } from "./recorded-canary/scene.ts";
import { canaryStage } from "./recorded-canary/stage.ts";

const { signal } = new AbortController();
const stage = canaryStage(signal);
const root = join(import.meta.dirname, "../..");
const page = await readFile(join(root, "docs/canary-examples.md"), "utf8");
const [head = "", ...sections] = page.split(/^## /m);
const blocks = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);

const Objects = z.array(z.custom<Manifest>((value) => z.looseObject({ kind: z.string() }).safeParse(value).success));
const Canary = z.looseObject({ kind: z.literal("Canary"), spec: CanarySpec });

/** What the page shows in one section, in a namespace of its own and with our stubs in place of its servers. */
function objectsOf(text: string, namespace: string): readonly Manifest[] {
  const { url } = stage().stubs;
  const ours = text
    .replaceAll(/\bshop\b/g, namespace)
    .replaceAll("http://prometheus.monitoring:9090", `${url}/prom/${namespace}`)
    .replaceAll(`http://flagger-loadtester.${namespace}/`, `${url}/hook/${namespace}/`);
  return Objects.parse(loadAll(ours));
}

async function apply(objects: readonly Manifest[]): Promise<void> {
  for (const object of objects) await stage().cluster.apply(object, { manager: "kubectl", force: true }, signal);
}

async function phaseIn(namespace: string): Promise<string> {
  const ref = { group: "flagger.app", version: "v1beta1", kind: "Canary", namespace, name: "podinfo" };
  return textAt((await stage().cluster.get(ref, signal)) ?? {}, "status", "phase");
}

/** Lets interval after interval pass until the Canary is in this phase, each of them when the step before is over. */
async function until(phase: string, namespace: string, ms: number): Promise<void> {
  const deployments = { group: "apps", version: "v1", kind: "Deployment", namespace };
  await vi.waitFor(
    async () => {
      const undone = (await stage().cluster.list(deployments, signal)).map(rolloutOf).filter(({ isDone }) => !isDone);
      if (undone.length > 0 && phase !== "Failed") throw new Error(`not rolled out: ${JSON.stringify(undone)}`);
      if (!stage().isAtRest(namespace)) throw new Error("a step is under way");
      const now = await phaseIn(namespace);
      if (now === phase) return;
      await stage().pass(ms);
      throw new Error(`${namespace}: the phase is ${now}, not ${phase}`);
    },
    { ...withinDeadline, interval: 50 },
  );
}

let kubectl = "";
beforeAll(async () => {
  kubectl = await layerKubectl(() => {});
});

/** Runs a command of the page. What would watch without an end lists once. */
async function run(command: string, namespace: string): Promise<string> {
  const [program = "", ...args] = command
    .replaceAll(/\bshop\b/g, namespace)
    .replace(" --watch", "")
    .replace(/^npx /, "")
    .split(" ")
    .map((word) => word.replaceAll("'", ""));
  const env = { KUBECONFIG: stage().kubeconfig, PATH: process.env["PATH"] ?? "", HOME: tmpdir() };
  if (program === "kubectl") {
    return (await promisify(execFile)(kubectl, args, { cwd: root, env, timeout: 2 * deadlineMs })).stdout;
  }
  expect(program).toBe("sluice");
  // A command writes the time at which it was given.
  vi.useFakeTimers({ toFake: ["Date"], now: stage().now() });
  try {
    const { code, err, out } = await runCommand(args, { env, folder: tmpdir() });
    expect({ command, code, err }).toMatchObject({ code: 0 });
    return out + err;
  } finally {
    vi.useRealTimers();
  }
}

/** The Canary of a section, at rest with its first version, and its interval. */
async function initialised(section: string, namespace: string): Promise<number> {
  const [deployment = ""] = blocks(head, "yaml");
  await apply(objectsOf(deployment, namespace));
  const objects = blocks(section, "yaml").flatMap((block) => objectsOf(block, namespace));
  const canary = objects.find(({ kind }) => kind === "Canary");
  const ms = intervalMs(Canary.parse(canary).spec.analysis);
  stage().stubs.answerQueries(namespace, [{ match: "404", value: "0" }]);
  await apply(objects);
  await until("Initialized", namespace, ms);
  return ms;
}

const linesOf = (block: string): readonly string[] => block.split("\n").filter((line) => line !== "");
const [release = "", gates = ""] = await blocksToRun("docs/canary-examples.md", 2);
const [wait = "", setImage = "", ...shown] = linesOf(release);
const isGated = (section: string) => section.includes("type: confirm-");

describe("the examples of docs/canary-examples.md", () => {
  test.each(
    sections.filter((section) => !isGated(section)).map((section, at) => [section.split("\n", 1)[0], section, at]),
  )("%s: is released unchanged, with the commands of the page", async (_title, section, at) => {
    const namespace = `shop-${at}`;
    const ms = await initialised(String(section), namespace);
    await run(wait, namespace);
    await run(setImage, namespace);
    await until("Succeeded", namespace, ms);
    const told = await Promise.all(shown.map((command) => run(command, namespace)));
    expect(told[0]).toContain("Succeeded");
    expect(told[1]).toContain(`Promotion completed! Scaling down podinfo.${namespace}`);
  });

  test("gates stop the run until its commands open them one after the other, and a run is rolled back", async () => {
    const namespace = "shop-gates";
    const section = sections.find(isGated) ?? "";
    const [promote = "", rollBack = "", ...others] = linesOf(gates);
    expect(others).toEqual([]);
    const ms = await initialised(section, namespace);
    stage().stubs.answerHook(namespace, "gate/check", { status: 403, body: "Forbidden" });
    await run(setImage, namespace);
    await until("Waiting", namespace, ms);
    await run(promote, namespace);
    await until("WaitingPromotion", namespace, ms);
    await run(promote, namespace);
    await until("Succeeded", namespace, ms);
    await run(setImage.replace("6.0.1", "6.0.2"), namespace);
    await until("Waiting", namespace, ms);
    await run(promote, namespace);
    await until("Progressing", namespace, ms);
    await run(rollBack, namespace);
    await until("Failed", namespace, ms);
    const primary = { group: "apps", version: "v1", kind: "Deployment", namespace, name: "podinfo-primary" };
    expect(JSON.stringify((await stage().cluster.get(primary, signal))?.["spec"])).toContain("podinfo:6.0.1");
  });
});

test("the commands next to the example release it, roll back a failing revision, open its gate and remove it", async () => {
  const commands = (await blocksToRun("examples/podinfo-canary/README.md", 5)).flatMap(linesOf);
  const faulty = `kubectl patch deployment podinfo -p '{"spec":{"template":{"metadata":{"annotations":{"local.sluice.dev/simulate"`;
  /** The phase that a reader waits for after a command that begins so. */
  const reached: readonly (readonly [command: string, phase: string])[] = [
    ["kubectl apply -f examples/podinfo-canary/podinfo.yaml", "Initialized"],
    ["kubectl set image deployment/podinfo podinfod=ghcr.io/stefanprodan/podinfo:6.0.1", "Succeeded"],
    [`${faulty}:"never-ready"`, "Failed"],
    ["kubectl set image deployment/podinfo podinfod=ghcr.io/stefanprodan/podinfo:6.0.2", "Progressing"],
    ["kubectl delete canary podinfo", ""],
  ];
  const phases: string[] = [];
  const told: string[] = [];
  for (const command of commands) {
    told.push(await run(command, "default"));
    const phase = reached.find(([begin]) => command.startsWith(begin))?.[1];
    if (phase === undefined) continue;
    await until(phase, "default", 10_000);
    phases.push(phase);
  }
  expect(phases).toEqual(reached.map(([, phase]) => phase));
  expect(told.join("")).toContain("gate confirm-promotion of Canary podinfo is open for this run");
  const ref = { group: "apps", version: "v1", kind: "Deployment", namespace: "default", name: "podinfo" };
  expect(await stage().cluster.get(ref, signal)).toMatchObject({ spec: { replicas: 2 } });
});
