import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { declaredAlert } from "../lib/api/kinds/alert.ts";
import { declaredNotificationProvider } from "../lib/api/kinds/notification-provider.ts";
import { customResourceDefinition } from "../lib/definitions/custom-resource-definition.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { startEmbeddedCluster } from "../local/start-embedded-cluster.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { type Figure, figure } from "./figure.ts";
import type { Task } from "./notifications-process.ts";

const alerts = 10;
const patienceMs = 120_000;
const rounds = 3;
const Used = z.object({ cpuMs: z.number(), megabytes: z.number() });
const Posted = z.object({ message: z.string() });

const cases = [
  { title: "one event every 5 ms to one of ten Alerts", events: 400, gapMs: 5, isForOne: true },
  { title: "2,000 events at once, each to one of ten Alerts", events: 2_000, gapMs: 0, isForOne: true },
  { title: "2,000 events at once, each to ten Alerts", events: 2_000, gapMs: 0, isForOne: false },
] as const;

/**
 * Notifications at home: from an event to the request at a Provider of type generic on loopback, with the Kubernetes API in another
 * process. Each round in a process of its own; its processor time and its peak of memory are those of the whole process.
 */
export async function notifications(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { title, events, gapMs, isForOne } of cases) {
    const seen = { waits: [] as number[], all: [] as number[], cpu: [] as number[], memory: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const { waits, allMs, cpuMs, megabytes } = await measured({ events, gapMs, alerts, isForOne });
      seen.waits.push(...waits);
      seen.all.push(allMs);
      seen.cpu.push(cpuMs);
      seen.memory.push(megabytes);
    }
    if (gapMs > 0) figures.push(figure(`${title}, event to request at the Provider`, "ms", seen.waits));
    else figures.push(figure(`${title}, until the last request`, "ms", seen.all));
    figures.push(figure(`${title}, processor time`, "ms", seen.cpu));
    figures.push(figure(`${title}, peak of memory`, "MB", seen.memory));
  }
  return figures;
}

async function measured(of: Pick<Task, "alerts" | "events" | "gapMs" | "isForOne">) {
  await using open = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-notifications-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const expected = of.events * (of.isForOne ? 1 : of.alerts);
  const waits: number[] = [];
  const arrived = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      response.end();
      const [, index, sentAt] = /^(-?\d+) at (\d+)$/.exec(Posted.parse(JSON.parse(body)).message) ?? [];
      if (Number(index) < 0) return;
      waits.push(Number(process.hrtime.bigint() - BigInt(sentAt ?? 0)) / 1_000_000);
      if (waits.length === expected) arrived.resolve();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.defer(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the Provider has no port");
  const kubeconfig = await clusterWith(of, `http://127.0.0.1:${address.port}`, folder, open);
  const task: Task = { ...of, kubeconfig, folder };
  const child = fork(join(import.meta.dirname, "notifications-process.ts"), [JSON.stringify(task)]);
  open.defer(() => void child.kill());
  await orLate(arrived.promise, () => `${waits.length} of ${expected} notifications have arrived`);
  const ended = once(child, "exit");
  child.send("done");
  const [used] = z.array(z.unknown()).parse(await once(child, "message"));
  await ended;
  return { waits, allMs: waits.reduce((most, one) => Math.max(most, one), 0), ...Used.parse(used) };
}

async function orLate(work: Promise<void>, why: () => string): Promise<void> {
  const timer = setTimeout(patienceMs);
  const isLate = await Promise.race([work.then(() => false), timer.then(() => true)]);
  if (isLate) throw new Error(`${why()} within ${patienceMs / 1_000} s`);
}

async function clusterWith(
  { alerts: count, isForOne }: Pick<Task, "alerts" | "isForOne">,
  address: string,
  folder: string,
  open: AsyncDisposableStack,
): Promise<string> {
  const server = await startEmbeddedCluster({ stateFolder: folder, port: 0, names: [], log: silentLog });
  open.defer(() => server.close());
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig(), { mode: 0o600 });
  const config = await readKubeconfig({ file, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  const signal = AbortSignal.timeout(patienceMs);
  const options = { manager: "bench", force: true };
  for (const declared of [declaredAlert, declaredNotificationProvider]) {
    await cluster.apply(
      z
        .looseObject({ apiVersion: z.string(), kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
        .parse(await customResourceDefinition(declared)),
      options,
      signal,
    );
  }
  const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
  for (let index = 0; index < count; index++) {
    const metadata = { name: `alert-${index}`, namespace: "default" };
    const name = isForOne ? `app-${index}` : "app";
    await cluster.apply(
      { apiVersion, kind: "Provider", metadata, spec: { type: "generic", address: `${address}/${index}` } },
      options,
      signal,
    );
    const spec = { providerRef: { name: metadata.name }, eventSources: [{ kind: "Kustomization", name }] };
    await cluster.apply({ apiVersion, kind: "Alert", metadata, spec }, options, signal);
  }
  return file;
}
