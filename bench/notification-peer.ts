import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { eventJson } from "../lib/notify/event-json.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { startWholeFlux } from "../test/interop/fleet/start-whole-flux.ts";
import { type BuiltFlux, builtFluxWith } from "../test/interop/flux-recorder/built-flux.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../test/real/own-control-plane.ts";
import type { Figure } from "./figure.ts";
import { applyAlerts, eventOf, type Load, loads, startReceiver } from "./notification-load.ts";
import { figuresOf, type Round, sluiceRound } from "./notifications.ts";
import { watchUse } from "./process-memory.ts";

/**
 * The loads of {@link notifications} beside Flux's notification-controller, on one control plane, each round in a process of its own. Flux
 * gets the events as its controllers post them, so its time begins before that request; Sluice records its own.
 */
export async function notificationPeer(): Promise<readonly Figure[]> {
  const flux = await builtFluxWith(["notification-controller"]);
  if (flux === undefined || !mayHaveOwnControlPlane()) {
    process.stderr.write("notificationPeer is left out: it needs a control plane and a build of Flux with --all\n");
    return [];
  }
  await using open = new AsyncDisposableStack();
  const plane = open.use(await ownControlPlane());
  const config = await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  const { kubeconfig } = plane;
  const figures: Figure[] = [];
  for (const load of loads) {
    figures.push(
      ...(await figuresOf("Flux: ", load, () =>
        inFolder((folder) => fluxRound(load, flux, { cluster, folder, kubeconfig })),
      )),
    );
    figures.push(
      ...(await figuresOf("Sluice: ", load, () =>
        inFolder((folder) => sluiceRound(load, { cluster, folder, kubeconfig })),
      )),
    );
  }
  return figures;
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-notification-peer-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface World {
  readonly cluster: Cluster;
  readonly folder: string;
  readonly kubeconfig: string;
}

const patienceMs = 180_000;
const controller = "notification-controller";

async function fluxRound(load: Load, built: BuiltFlux, world: World): Promise<Round> {
  const signal = AbortSignal.timeout(patienceMs);
  await using open = new AsyncDisposableStack();
  const flux = open.use(await startWholeFlux({ ...built, ...world, flags: { [controller]: [] } }, signal));
  const receiver = await startReceiver(load, open);
  await applyAlerts(load, receiver.address, world.cluster);
  const http = httpClient({ network: homeNetwork });
  open.defer(() => http.close());
  const post = async (index: number): Promise<void> => {
    const body = Buffer.from(eventJson(eventOf(index, load)));
    const headers = { "content-type": "application/json" };
    const request = {
      method: "POST",
      url: flux.events,
      headers,
      body,
      timeoutMs: patienceMs,
      maxBytes: 10_000,
    } as const;
    const { status } = await http.send(request, signal);
    if (status !== 202) throw new Error(`notification-controller answered an event with status ${status}`);
  };
  // Until its cache has every Alert and Provider as they are now.
  for (let index = -1; receiver.warm.size < load.alerts; index--) {
    await post(index);
    await systemClock.sleep(10, signal);
  }
  const pid = flux.processes[controller];
  if (pid === undefined) throw new Error("notification-controller has no process");
  const use = watchUse(pid);
  const posted: Promise<void>[] = [];
  for (let index = 0; index < load.events; index++) {
    const one = post(index);
    posted.push(one);
    if (load.gapMs === 0) continue;
    await one;
    await systemClock.sleep(load.gapMs, signal);
  }
  await Promise.all(posted);
  await receiver.all();
  const { cpu, peakMb, openFiles } = use();
  const { waits } = receiver;
  return { waits, connections: receiver.connections(), cpuMs: cpu * 1_000, megabytes: peakMb, openFiles };
}
