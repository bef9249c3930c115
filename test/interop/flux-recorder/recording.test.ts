import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { equal, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { startRegistry } from "../../../local/registry/start-registry.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { comparable } from "../../e2e/recorded-flux/comparable.ts";
import { givenScenarios } from "../../e2e/recorded-flux/given-recordings.ts";
import { playedScenarios } from "../../e2e/recorded-flux/played-scenarios.ts";
import { readRecordedStep, recordingFile } from "../../e2e/recorded-flux/recording.ts";
import { Scene, type Stage } from "../../e2e/recorded-flux/scene.ts";
import { settle } from "../../e2e/recorded-flux/settle.ts";
import { renamed, type Shown } from "../../e2e/recorded-flux/shown.ts";
import { readScenario, type Step } from "../../e2e/recorded-flux/steps.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { builtFlux } from "./built-flux.ts";
import { withoutRaces } from "./flux-races.ts";
import { formatRecording, recordable } from "./format-recording.ts";
import { startFlux } from "./start-flux.ts";

const { signal } = new AbortController();
/** Writes the result of Flux instead of comparing it. */
const isRecording = (process.env["SLUICE_RECORD"] ?? "") !== "";
const built = await builtFlux();
const missing = built === undefined || !mayHaveOwnControlPlane();
const { played: given } = await givenScenarios();
/** Without those that were recorded elsewhere: some of their steps are in the middle of a run, so there is no end to wait for. */
const scenarios = (await playedScenarios()).filter((name) => !given.includes(name));
const needs =
  "needs SLUICE_FLUX_CONTROLLERS, SLUICE_FLUX_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/flux-recorder/README.md";

describe.skipIf(missing)(`Flux itself, on its own control plane${missing ? ` (${needs})` : ""}`, () => {
  const open = new AsyncDisposableStack();
  let stage: Stage;
  let artifacts: string;

  beforeAll(async () => {
    if (built === undefined) throw new Error(needs);
    const plane = open.use(await ownControlPlane());
    const folder = await mkdtemp(join(tmpdir(), "flux-recorder-"));
    open.defer(() => rm(folder, { recursive: true, force: true }));
    const config = await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: homedir() });
    const cluster = connect(config, { clock: systemClock, env: {} });
    open.defer(() => cluster.close());
    const http = httpClient({ network: homeNetwork });
    open.defer(() => http.close());
    const registryFolder = join(folder, "registry");
    const registry = await startRegistry({ folder: registryFolder, port: 0, log: silentLog, onPush: () => undefined });
    open.defer(() => registry.close());
    stage = { cluster, http, registry: registry.address };
    const kubeconfig = plane.adminKubeconfig;
    artifacts = open.use(await startFlux({ ...built, kubeconfig, folder, cluster }, signal)).artifacts;
  });

  afterAll(() => open.disposeAsync());

  describe.concurrent("gives the recorded results", () => {
    test.for(scenarios)("%s", async (name) => {
      const scene = new Scene(await readScenario(name), stage, signal);
      const left: Record<string, JsonObject> = {};
      await scene.begin();
      try {
        for (const step of scene.scenario.steps) {
          const compared = (one: unknown) => withoutRaces(name, step.step, comparable(one));
          const wanted = isRecording ? undefined : compared(await readRecordedStep(name, step.step));
          const now = await play(step, scene, (shown) => wanted === undefined || equal(compared(shown), wanted));
          left[step.step] = now;
          expect(compared(now)).toEqual(wanted ?? compared(now));
        }
        if (isRecording) await writeFile(recordingFile(name), formatRecording(left));
      } finally {
        await scene.end();
      }
    });
  });

  async function play(step: Step, scene: Scene, isExpected: (now: JsonObject) => boolean): Promise<JsonObject> {
    const { registry } = stage;
    const withRecordedAddresses = (text: string) =>
      text.replaceAll(registry, "127.0.0.1:15000").replaceAll(artifacts, "127.0.0.1:19790");
    const asRecorded = (shown: Shown) => recordable(renamed(toJsonObject(shown), withRecordedAddresses));
    for (const action of step.do) await scene.act(action);
    const shown = await settle(scene, step, stage.cluster, signal, (now) => isExpected(asRecorded(now)));
    await scene.turnPage();
    return asRecorded(shown);
  }
});
