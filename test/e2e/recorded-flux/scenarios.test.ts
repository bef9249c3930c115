import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { httpClient, refuseNone } from "../../../lib/http/http-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { type LocalSluice, startLocal } from "../../../local/start-local.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { comparable } from "../recorded-flux.ts";
import { deliberateDifferences } from "./deliberate-differences.ts";
import { expected } from "./expected.ts";
import { playedScenarios } from "./played-scenarios.ts";
import { Scene } from "./scene.ts";
import { readScenario } from "./steps.ts";

/** Some steps wait until a health check or a deletion gives up, which by Flux's rules takes 30 s. */
const patienceMs = 75_000;
const { signal } = new AbortController();
const http = httpClient({ refuse: refuseNone });
const scenarios = await playedScenarios();
let folder: string;
let sluice: LocalSluice;
let cluster: Cluster & { close(): void };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-scenarios-"));
  const ports = { registryPort: 0, receiverPort: 0, apiPort: 0 };
  sluice = await startLocal({ state: join(folder, "state"), ...ports, env: {}, log: silentLog }, signal);
  const config = await readKubeconfig({ file: sluice.kubeconfig, env: {}, homeDir: homedir() });
  cluster = connect(config, { clock: systemClock, env: {} });
});

afterAll(async () => {
  cluster.close();
  await sluice.close();
  http.close();
  await rm(folder, { recursive: true, force: true });
});

describe.concurrent("what Flux left step by step, Sluice leaves too", () => {
  test.for(scenarios)("%s", { timeout: 240_000 }, async (name) => {
    const scenario = await readScenario(name);
    const scene = new Scene(scenario, { cluster, http, registry: sluice.registry }, signal);
    await scene.begin();
    for (const step of scenario.steps) {
      for (const action of step.do) await scene.act(action);
      const wanted = await expected(name, step.step);
      const isAsRecorded = async () => {
        const shown = comparable(await scene.show(step));
        expect({ step: step.step, shown }).toEqual({ step: step.step, shown: wanted });
      };
      await vi.waitFor(isAsRecorded, { timeout: patienceMs, interval: 100 });
      await scene.turnPage();
    }
  });

  test("every deliberate difference is one of a step that is recorded", async () => {
    const known = await Promise.all(
      scenarios.map(async (name) => (await readScenario(name)).steps.map(({ step }) => `${name}/${step}`)),
    );
    const named = deliberateDifferences.map(({ scenario, step }) => `${scenario}/${step}`);
    expect(named.filter((step) => !known.flat().includes(step))).toEqual([]);
  });
});
