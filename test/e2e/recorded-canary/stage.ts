import { mkdtemp, readFile, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { z } from "zod";
import { defaultSettings, type Settings } from "../../../functions/settings/settings.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { parseStoredWorkItem } from "../../../lib/queue/stored-work-item.ts";
import { startLocal } from "../../../local/start-local.ts";
import { readStateDatabase, type StateDatabase } from "../../../local/state/state-database.ts";
import { withinDeadline } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { isAtRest } from "../recorded-flux/at-rest.ts";
import type { Stage } from "./scene.ts";
import { stubs as startStubs } from "./stubs.ts";

const routes = join(import.meta.dirname, "../../../local/demo/gateway-api/httproutes.json");
const settings: Settings = { ...defaultSettings, "mesh-provider": "gatewayapi:v1" };
const Definition = z.custom<Manifest>();

/** A clock of which no time passes by itself: a step begins when its test says so. */
function standingClock(): { readonly clock: Clock; pass(ms: number): void } {
  const [wall, monotonic] = [systemClock.now(), systemClock.monotonic()];
  let passedMs = 0;
  return {
    clock: { ...systemClock, now: () => wall + passedMs, monotonic: () => monotonic + passedMs },
    pass: (ms) => {
      passedMs += ms;
    },
  };
}

/** A Sluice with Flagger's settings of the recordings: starts one before the tests of the file that calls this, and stops it after them. */
export function canaryStage(signal: AbortSignal): () => Stage {
  const running = new AsyncDisposableStack();
  let stage: Stage | undefined;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-canary-"));
    running.defer(() => rm(folder, { recursive: true, force: true }));
    const time = standingClock();
    const options = {
      state: join(folder, "state"),
      env: {},
      log: silentLog,
      settings,
      clock: time.clock,
    };
    const sluice = await startLocal(options, signal);
    running.defer(() => sluice.close());
    const database = readStateDatabase(join(sluice.state, "state.db"));
    running.defer(() => database.close());
    const config = await readKubeconfig({ file: sluice.kubeconfig, env: {}, homeDir: homedir() });
    const cluster = connect(config, { clock: systemClock, env: {} });
    running.defer(() => cluster.close());
    const definition = Definition.parse(JSON.parse(await readFile(routes, "utf8")));
    await cluster.apply(definition, { manager: "bench", force: true }, signal);
    let nudges = 0;
    stage = {
      ...{ cluster, kubeconfig: sluice.kubeconfig, stubs: running.use(await startStubs()) },
      now: () => time.clock.now(),
      isAtRest: (namespace) => isAtRest(database, namespace),
      async pass(ms) {
        time.pass(ms);
        // Sluice sleeps until something is due by the time that it knew: another hint makes it look at the clock.
        nudges += 1;
        const name = `nudge-${nudges}`;
        await cluster.apply(nudge(name), { manager: "bench", force: true }, signal);
        // Its run has begun after what was due before it.
        await vi.waitFor(() => {
          if (!isOver(database, name)) throw new Error(`${name} was not run`);
        }, withinDeadline);
      },
    };
  });
  afterAll(() => running.disposeAsync());
  return () => {
    if (stage === undefined) throw new Error("asked for before the tests began");
    return stage;
  };
}

function nudge(name: string): Manifest {
  return {
    ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata: { name, namespace: "default" } },
    spec: { interval: "1h", url: "oci://nowhere.test/none", suspend: true },
  };
}

function isOver({ connection }: StateDatabase, name: string): boolean {
  return connection
    .prepare("SELECT key, item FROM work_items WHERE instr(key, ?) > 0")
    .all(`/${name}`)
    .map(({ key, item }) => parseStoredWorkItem(String(item), String(key)))
    .some(({ handled, key, lease }) => key.name === name && handled > 0 && lease === undefined);
}
