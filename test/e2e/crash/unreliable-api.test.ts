import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { startKubernetes } from "../../../local/kubernetes/start-kubernetes.ts";
import { startLocal } from "../../../local/start-local.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type Treatment, unreliableProxy } from "../../doubles/unreliable-proxy.ts";
import { applied, configMap, followApp, localWorld } from "../local/local-world.ts";

const { signal } = new AbortController();
const patient = { timeout: 60_000, interval: 100 };

function names(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `m${String(from + index).padStart(3, "0")}`);
}

test.each<{ name: string; objects: number; treat: (count: number) => Treatment }>([
  { name: "throttles every eighth request", objects: 16, treat: (count) => (count % 8 === 0 ? "throttle" : "forward") },
  { name: "drops every third request", objects: 60, treat: (count) => (count % 3 === 0 ? "drop" : "forward") },
  { name: "drops every third answer", objects: 60, treat: (count) => (count % 3 === 0 ? "lost" : "forward") },
])("an API server that $name: the end is exactly what was pushed", { timeout: 180_000 }, async ({ objects, treat }) => {
  await using ending = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-unreliable-"));
  ending.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startKubernetes({
    stateFolder: join(folder, "api"),
    port: 0,
    controllers: true,
    log: silentLog,
  });
  ending.defer(() => server.close());
  let isUnreliable = false;
  const proxy = ending.use(await unreliableProxy(server.url, (count) => (isUnreliable ? treat(count) : "forward")));
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig().replaceAll(server.url, proxy.url));
  const ports = { registryPort: 0, receiverPort: 0, apiPort: 0 };
  const sluice = await startLocal(
    {
      state: join(folder, "state"),
      ...ports,
      kubeconfig: { file },
      env: {},
      log: silentLog,
    },
    signal,
  );
  ending.defer(() => sluice.close());
  const direct = join(folder, "direct-kubeconfig");
  await writeFile(direct, server.kubeconfig());
  const config = await readKubeconfig({ file: direct, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  ending.defer(() => cluster.close());
  const world = ending.use(await localWorld());

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
  const ref = {
    group: "kustomize.toolkit.fluxcd.io",
    version: "v1",
    kind: "Kustomization",
    namespace: "default",
    name: "app",
  };
  await cluster.delete(ref, { propagation: "Background" }, signal);
  await expect.poll(() => applied(cluster), patient).toEqual([]);
  await expect.poll(() => cluster.get(ref, signal), patient).toBeUndefined();
});
