import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { declaredAlert } from "../lib/api/kinds/alert.ts";
import { declaredNotificationProvider } from "../lib/api/kinds/notification-provider.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import { customResourceDefinition } from "../lib/definitions/custom-resource-definition.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { startEmbeddedCluster } from "../local/start-embedded-cluster.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { type Figure, figure } from "./figure.ts";
import { applyAlerts, type Load, loads, startReceiver } from "./notification-load.ts";
import type { Task } from "./notifications-process.ts";

const rounds = 3;
const Used = z.object({ cpuMs: z.number(), megabytes: z.number(), openFiles: z.int() });

/** What a round of a load has taken. */
export interface Round extends z.infer<typeof Used> {
  /** From each event to its request at the Provider, in milliseconds. */
  readonly waits: readonly number[];
  /** Connections to the Providers at the same time. */
  readonly connections: number;
}

/**
 * Notifications at home: from an event to the request at a Provider of type generic on loopback, with the Kubernetes API in another
 * process. Each round in a process of its own; its processor time and its peak of memory are those of the whole process.
 */
export async function notifications(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const load of loads) figures.push(...(await figuresOf("", load, () => onEmbeddedCluster(load))));
  return figures;
}

/** The figures of three rounds of a load. */
export async function figuresOf(by: string, { gapMs, title }: Load, measure: () => Promise<Round>): Promise<Figure[]> {
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await measure());
  const all = measured.map(({ waits }) => waits.reduce((most, one) => Math.max(most, one), 0));
  const waits = measured.flatMap((one) => one.waits);
  return [
    gapMs > 0
      ? figure(`${by}${title}, event to request at the Provider`, "ms", waits)
      : figure(`${by}${title}, until the last request`, "ms", all),
    figure(
      `${by}${title}, processor time`,
      "ms",
      measured.map(({ cpuMs }) => cpuMs),
    ),
    figure(
      `${by}${title}, peak of memory`,
      "MB",
      measured.map(({ megabytes }) => megabytes),
    ),
    figure(
      `${by}${title}, open files at the end`,
      "files",
      measured.map(({ openFiles }) => openFiles),
    ),
    figure(
      `${by}${title}, connections to the Providers`,
      "connections",
      measured.map((one) => one.connections),
    ),
  ];
}

async function onEmbeddedCluster(load: Load): Promise<Round> {
  await using open = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-notifications-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startEmbeddedCluster({ stateFolder: folder, port: 0, names: [], log: silentLog });
  open.defer(() => server.close());
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  const config = await readKubeconfig({ file: kubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  await installKinds(cluster);
  return await sluiceRound(load, { cluster, folder, kubeconfig });
}

async function installKinds(cluster: Cluster): Promise<void> {
  const Definition = z.looseObject({
    ...{ apiVersion: z.string(), kind: z.string() },
    metadata: z.looseObject({ name: z.string() }),
  });
  const options = { manager: "bench", force: true };
  for (const declared of [declaredAlert, declaredNotificationProvider]) {
    const definition = Definition.parse(await customResourceDefinition(declared));
    await cluster.apply(definition, options, AbortSignal.timeout(60_000));
  }
}

/** A round of what sends the events of `sluice local`, in a process of its own. The cluster has the kinds. */
export async function sluiceRound(
  load: Load,
  { cluster, folder, kubeconfig }: { readonly cluster: Cluster; readonly folder: string; readonly kubeconfig: string },
): Promise<Round> {
  await using open = new AsyncDisposableStack();
  const receiver = await startReceiver(load, open);
  await applyAlerts(load, receiver.address, cluster);
  const task: Task = { ...load, kubeconfig, folder };
  const child = fork(join(import.meta.dirname, "notifications-process.ts"), [JSON.stringify(task)]);
  open.defer(() => void child.kill());
  await receiver.all();
  const ended = once(child, "exit");
  child.send("done");
  const [used] = z.array(z.unknown()).parse(await once(child, "message"));
  await ended;
  return { waits: receiver.waits, connections: receiver.connections(), ...Used.parse(used) };
}
