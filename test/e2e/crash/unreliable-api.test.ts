import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { expect, test } from "vitest";
import { findCondition } from "../../../lib/api/condition.ts";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import type { SentRequest } from "../../../lib/kube/api-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { startLocal } from "../../../local/start-local.ts";
import { deadlineMs } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type Treatment, unreliableProxy } from "../../doubles/unreliable-proxy.ts";
import { applied, configMap, followApp, localWorld } from "../local/local-world.ts";

const { signal } = new AbortController();
const app = {
  group: "kustomize.toolkit.fluxcd.io",
  version: "v1",
  kind: "Kustomization",
  namespace: "default",
  name: "app",
};
const patient = { timeout: deadlineMs, interval: 100 };

function names(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `m${String(from + index).padStart(3, "0")}`);
}

/** Sluice on an embedded API server that it reaches through an unreliable proxy; the test reaches it directly. */
async function sluiceBehind(treat: Parameters<typeof unreliableProxy>[1], ending: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-unreliable-"));
  ending.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startKubernetes({
    stateFolder: join(folder, "api"),
    port: 0,
    controllers: true,
    log: silentLog,
  });
  ending.defer(() => server.close());
  const proxy = ending.use(await unreliableProxy(server.url, treat));
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig().replaceAll(server.url, proxy.url));
  const requests: SentRequest[] = [];
  const observe = (request: SentRequest): void => void requests.push(request);
  const options = {
    state: join(folder, "state"),
    clusters: [{ name: file, file }] as const,
    env: {},
    log: silentLog,
    observe,
  };
  const sluice = await startLocal(options, signal);
  ending.defer(() => sluice.close());
  const direct = join(folder, "direct-kubeconfig");
  await writeFile(direct, server.kubeconfig());
  const config = await readKubeconfig({ file: direct, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  ending.defer(() => cluster.close());
  const world = ending.use(await localWorld());
  return { cluster, requests, sluice, world };
}

test.each<{ name: string; objects: number; treat: (count: number) => Treatment }>([
  { name: "throttles every eighth request", objects: 16, treat: (count) => (count % 8 === 0 ? "throttle" : "forward") },
  { name: "drops every third request", objects: 60, treat: (count) => (count % 3 === 0 ? "drop" : "forward") },
  { name: "drops every third answer", objects: 60, treat: (count) => (count % 3 === 0 ? "lost" : "forward") },
])("with an API server that $name the final state is exactly the pushed one", async ({ objects, treat }) => {
  await using ending = new AsyncDisposableStack();
  let isUnreliable = false;
  const { cluster, sluice, world } = await sluiceBehind((count) => (isUnreliable ? treat(count) : "forward"), ending);

  const push = (from: number, value: string) =>
    world.push(
      sluice,
      names(from, objects).map((name) => configMap(name, value)),
    );
  const wanted = (from: number, value: string) => names(from, objects).map((name) => `${name}=${value}`);
  isUnreliable = true;
  await push(0, "1");
  await followApp(cluster, sluice);
  await expect.poll(() => applied(cluster), patient).toEqual(wanted(0, "1"));
  await push(10, "2");
  await expect.poll(() => applied(cluster), patient).toEqual(wanted(10, "2"));
  await cluster.delete(app, { propagation: "Background" }, signal);
  await expect.poll(() => applied(cluster), patient).toEqual([]);
  await expect.poll(() => cluster.get(app, signal), patient).toBeUndefined();
});

test("with an API server that answers 503 for one kind, Ready reports it until the outage is over", async () => {
  await using ending = new AsyncDisposableStack();
  let isOut = false;
  const { cluster, sluice, world } = await sluiceBehind(
    // But not for the one object without which nothing may be written, a status neither.
    (_count, url) =>
      isOut && url.includes("/configmaps") && !url.endsWith("/sluice-owner") ? "unavailable" : "forward",
    ending,
  );
  const ready = async (): Promise<string> => {
    const live = await cluster.get(app, signal);
    const found = live && findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
    return found === undefined ? "none" : `${found.status} ${found.reason}: ${found.message}`;
  };
  await world.push(sluice, [configMap("a", "1")]);
  await followApp(cluster, sluice);
  await expect.poll(ready, patient).toMatch(/^True/);
  isOut = true;
  await world.push(sluice, [configMap("a", "2")]);
  await expect.poll(ready, patient).toBe("False ReconciliationFailed: the server is overloaded");
  isOut = false;
  // The next try would come by itself, half a minute later.
  await world.push(sluice, [configMap("a", "3")]);
  await expect.poll(() => applied(cluster), patient).toEqual(["a=3"]);
  await expect.poll(ready, patient).toMatch(/^True/);
  const events = await cluster.list({ group: "", version: "v1", kind: "Event", namespace: "default" }, signal);
  expect(events.filter(({ reason }) => reason === "ReconciliationFailed")).toHaveLength(1);
});

test("while the owner of the cluster cannot be read nothing is written, not even a status, and then it continues by itself", async () => {
  await using ending = new AsyncDisposableStack();
  let isOut = false;
  const { cluster, requests, sluice, world } = await sluiceBehind(
    (_count, url) => (isOut && url.endsWith("/sluice-owner") ? "unavailable" : "forward"),
    ending,
  );
  await world.push(sluice, [configMap("a", "1")]);
  await followApp(cluster, sluice);
  await expect.poll(() => applied(cluster), patient).toEqual(["a=1"]);

  isOut = true;
  const failedLooks = () => requests.filter(({ path, status }) => path.endsWith("/sluice-owner") && status >= 500);
  // Each asks for a run, and the look that counts is too old some time.
  let asked = 0;
  const ask = async (): Promise<number> => {
    const annotations = { "reconcile.fluxcd.io/requestedAt": String(asked++) };
    const patch = { type: "merge", body: { metadata: { annotations } } } as const;
    await cluster.patch(app, patch, { manager: "test" }, signal);
    return failedLooks().length;
  };
  await expect.poll(ask, patient).toBeGreaterThan(0);
  const sinceThen = requests.length;
  await world.push(sluice, [configMap("a", "2")]);
  const looks = failedLooks().length;
  await expect.poll(ask, patient).toBeGreaterThan(looks + 3);
  const sent = requests.slice(sinceThen);
  expect(sent.some(({ path }) => path.includes("/kustomizations/app"))).toBe(true);
  expect(sent.filter(({ verb, dryRun }) => !dryRun && !["get", "list", "watch"].includes(verb))).toEqual([]);

  isOut = false;
  await expect.poll(() => applied(cluster), patient).toEqual(["a=2"]);
});
