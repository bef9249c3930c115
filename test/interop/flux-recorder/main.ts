import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dump } from "js-yaml";
import { mapLimit } from "../../../lib/core/map-limit.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { httpClient, refuseNone } from "../../../lib/http/http-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { playedScenarios } from "../../e2e/recorded-flux/played-scenarios.ts";
import { Scene, type Stage } from "../../e2e/recorded-flux/scene.ts";
import { settle } from "../../e2e/recorded-flux/settle.ts";
import type { Shown } from "../../e2e/recorded-flux/shown.ts";
import { fixtures, readScenario, type Step } from "../../e2e/recorded-flux/steps.ts";
import { startFlux } from "./start-flux.ts";

const usage = `usage: node test/interop/flux-recorder/main.ts --controllers DIR --crds DIR... --kubeconfig FILE --registry HOST:PORT [SCENARIO...]

Plays the scenarios of test/fixtures/flux on real Flux and writes what it left. See README.md.
`;
const scenariosAtOnce = 4;

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort(new Error(`ended by ${name}`)));
process.exitCode = await main(process.argv.slice(2), stop.signal);

async function main(args: string[], signal: AbortSignal): Promise<number> {
  const text = { type: "string" } as const;
  const options = { controllers: text, crds: { ...text, multiple: true }, kubeconfig: text, registry: text } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const { controllers, crds, kubeconfig, registry } = values;
  if (controllers === undefined || crds === undefined || kubeconfig === undefined || registry === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const folder = await mkdtemp(join(tmpdir(), "flux-recorder-"));
  const config = await readKubeconfig({ file: kubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  const http = httpClient({ refuse: refuseNone });
  try {
    await using flux = await startFlux({ controllers, crds, kubeconfig, folder, cluster }, signal);
    const stage = { cluster, http, registry };
    const names = positionals.length === 0 ? await playedScenarios() : positionals;
    const failed: string[] = [];
    await mapLimit(
      names,
      scenariosAtOnce,
      async (name) => {
        try {
          await record(name, stage, flux.artifacts, signal);
          process.stderr.write(`${name}: recorded\n`);
        } catch (error) {
          failed.push(name);
          process.stderr.write(`${name}: ${String(error)}\n`);
        }
      },
      signal,
    );
    return failed.length === 0 ? 0 : 1;
  } finally {
    cluster.close();
    http.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function record(name: string, stage: Stage, artifacts: string, signal: AbortSignal): Promise<void> {
  const scenario = await readScenario(name);
  const scene = new Scene(scenario, stage, signal);
  await scene.begin();
  try {
    for (const step of scenario.steps) await recordStep(step, scene, stage, artifacts, signal);
  } finally {
    await scene.end();
  }
}

async function recordStep(
  step: Step,
  scene: Scene,
  stage: Stage,
  artifacts: string,
  signal: AbortSignal,
): Promise<void> {
  for (const action of step.do) await scene.act(action);
  const shown = await settle(scene, step, stage.cluster, signal);
  await scene.turnPage();
  const text = dump({ step: step.step, ...shown } satisfies Shown & { step: string }, { lineWidth: -1, noRefs: true });
  const placed = text.replaceAll(stage.registry, "127.0.0.1:15000").replaceAll(artifacts, "127.0.0.1:19790");
  await writeFile(join(fixtures, scene.scenario.name, `${step.step}.yaml`), withPlaceholders(placed));
}

/** What differs from run to run whatever is played. */
function withPlaceholders(text: string): string {
  return text
    .replace(/\b(creationTimestamp|\w+Time|\w+Reconciled|time): ['"]?\d{4}-\d\d-\d\dT[\d:.]+Z['"]?/g, '$1: "<time>"')
    .replace(/(image\.created): ['"]?\d{4}-\d\d-\d\dT[\d:.]+Z['"]?/g, '$1: "<time>"')
    .replace(/\buid: ['"]?[0-9a-f]{8}-[0-9a-f-]{27}['"]?/g, 'uid: "<uid>"')
    .replace(/\bresourceVersion: ['"]?\d+['"]?/g, 'resourceVersion: "<resourceVersion>"')
    .replace(/\/[\w/.-]*\/kustomization-\d+/g, "<tmp>");
}
