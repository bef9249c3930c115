import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { composeFlows } from "../../functions/compose-flows.ts";
import { defaultSettings } from "../../functions/settings/settings.ts";
import { findCondition } from "../../lib/api/condition.ts";
import { parseKustomization } from "../../lib/api/kustomization.ts";
import { kustomizeGroup, sourceGroup } from "../../lib/api/names.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { asHome, asTarget } from "../../lib/core/ports/home-and-target.ts";
import { Secret } from "../../lib/core/secret.ts";
import { repositoryTopic } from "../../lib/core/topics.ts";
import { installCrds } from "../../lib/definitions/install-crds.ts";
import { kinds } from "../../lib/flows/kinds/kinds.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { pushArtifact } from "../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../lib/sources/oci/registry-client.ts";
import { ecrPush } from "../../local/aws-events.ts";
import { listenOnLoopback } from "../../local/loopback/listen-on-loopback.ts";
import { startRegistry } from "../../local/registry/start-registry.ts";
import { localParts } from "../../local/start-local.ts";
import { type Runtime, startRuntime } from "../../local/start-runtime.ts";
import { openStores, type Stores } from "../../local/state/open-stores.ts";
import { openStateDatabase, type StateDatabase } from "../../local/state/state-database.ts";
import { noCel } from "../doubles/no-cel.ts";
import { noHelm } from "../doubles/no-helm.ts";
import { noRemoteClusters } from "../doubles/no-remote-clusters.ts";
import { openGate } from "../doubles/open-gate.ts";
import { recordedLog } from "../doubles/recorded-log.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { isAtRest } from "./recorded-flux/at-rest.ts";

const { signal } = new AbortController();
const clock = systemClock;
/** Clusters of one name in two accounts. */
const ids = {
  one: "arn:aws:eks:eu-west-1:111111111111:cluster/prod",
  two: "arn:aws:eks:eu-west-1:222222222222:cluster/prod",
} as const;
type Name = keyof typeof ids;
const names: readonly Name[] = ["one", "two"];
const namespace = "apps";
const app = "app";
const appRef = { group: kustomizeGroup, version: "v1", kind: "Kustomization", namespace, name: app };

describe("two clusters with objects of equal names in one installation", () => {
  const ending = new AsyncDisposableStack();
  const log = recordedLog();
  const http = httpClient({ network: homeNetwork });
  const clusters = new Map<Name, Cluster>();
  let folder: string;
  let registry: string;
  let database: StateDatabase;
  let stores: Stores;
  /** The status of a run is there before its end. */
  const untilAtRest = async (): Promise<void> => {
    await expect.poll(() => isAtRest(database, namespace)).toBe(true);
  };

  const clusterOf = (name: Name): Cluster => {
    const cluster = clusters.get(name);
    if (cluster === undefined) throw new Error(`cluster ${name} was not started`);
    return cluster;
  };

  async function startCluster(name: Name): Promise<void> {
    const stateFolder = join(folder, name);
    await mkdir(stateFolder);
    const server = await startKubernetes({
      stateFolder,
      log: silentLog,
      listen: (one) => listenOnLoopback(one, 0, { name: "the API server", option: "--api-port" }),
    });
    ending.defer(() => server.close());
    const file = join(stateFolder, "kubeconfig");
    await writeFile(file, server.kubeconfig());
    const cluster = connect(await readKubeconfig({ file, env: {}, homeDir: "/" }), { clock, env: {} });
    ending.defer(() => cluster.close());
    clusters.set(name, cluster);
    await installCrds(cluster, { clock, log: silentLog }, signal);
    const apply = (manifest: Parameters<Cluster["apply"]>[0]) =>
      cluster.apply(manifest, { manager: "kubectl", force: true }, signal);
    await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await apply({
      apiVersion: `${sourceGroup}/v1`,
      kind: "OCIRepository",
      metadata: { name: app, namespace },
      spec: { interval: "10m", url: `oci://${registry}/${name}`, insecure: true, ref: { tag: "v1" } },
    });
    await apply({
      apiVersion: `${kustomizeGroup}/v1`,
      kind: "Kustomization",
      metadata: { name: app, namespace },
      spec: { interval: "10m", path: "./", prune: true, sourceRef: { kind: "OCIRepository", name: app } },
    });
  }

  /** Pushes ConfigMaps with these names; each says which cluster it is for. */
  async function push(name: Name, maps: readonly string[]): Promise<string> {
    const path = await mkdtemp(join(folder, "artifact-"));
    const text = maps.map((map) =>
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: map, namespace }, data: { of: name } }),
    );
    await writeFile(join(path, "all.yaml"), text.join("\n---\n"));
    const clients = registryClients(http, clock);
    const artifact = { url: `oci://${registry}/${name}:v1`, path, source: "https://example.test", revision: "v1" };
    const { digest } = await pushArtifact(artifact, ({ host }) => clients({ host, insecure: true }), signal);
    return `Applied revision: v1@${digest}`;
  }

  const kustomization = async (name: Name) => {
    const live = await clusterOf(name).get(appRef, signal);
    return live && parseKustomization(live);
  };
  const ready = async (name: Name) =>
    findCondition((await kustomization(name))?.status.conditions ?? [], "Ready")?.message;
  const inventory = async (name: Name) =>
    (await kustomization(name))?.status.inventory?.entries.map(({ id }) => id).toSorted();
  /** The ConfigMaps that Sluice has applied in a cluster, with the cluster that they are for and their versions. */
  const applied = async (name: Name) => {
    const labelSelector = `${kustomizeGroup}/name=${app}`;
    const maps = { group: "", version: "v1", kind: "ConfigMap", namespace, labelSelector };
    const found = await clusterOf(name).list(maps, signal);
    return found.map(({ metadata, data }) => ({ name: metadata.name, data, version: metadata.resourceVersion }));
  };
  const mapsOf = async (name: Name) =>
    (await applied(name)).map((map) => `${map.name} ${JSON.stringify(map.data)}`).toSorted();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-equal-names-"));
    ending.defer(() => rm(folder, { recursive: true, force: true }));
    ending.defer(() => http.close());
    const started = Promise.withResolvers<Runtime>();
    const embedded = await startRegistry({
      ...{ folder: join(folder, "registry"), port: 0, log: silentLog },
      onPush: async (pushed) => (await started.promise).ingest(ecrPush(pushed, clock.now())),
    });
    ending.defer(() => embedded.close());
    registry = embedded.address;
    await Promise.all(names.map(startCluster));
    database = openStateDatabase(":memory:");
    ending.defer(() => database.close());
    stores = openStores(database, join(folder, "artifacts"), clock);
    const state = { installationKey: new Secret("0".repeat(64)) };
    const engine = { build: () => Promise.reject(new Error("a plain folder needs no engine")) };
    const runtime = await startRuntime(
      {
        ...{ cel: noCel, stores, kinds, clock, log, clusterCount: names.length },
        configSelector: defaultSettings["watch-configs-label-selector"],
        flows: composeFlows(kinds, {
          ...localParts(state, stores, defaultSettings, { clock, log }),
          ...{ cel: noCel, helm: noHelm, http, engine, remoteClusters: noRemoteClusters },
        }),
        registryHosts: () => [registry],
      },
      signal,
    );
    ending.defer(() => runtime.stop());
    started.resolve(runtime);
    for (const name of names) {
      await runtime.serve({
        id: ids[name],
        home: asHome(clusterOf(name)),
        targetAs: () => asTarget(clusterOf(name)),
        gated: asTarget,
        gate: openGate,
        log,
      });
    }
  });
  afterAll(() => ending.disposeAsync());

  test("each get what was pushed for them, with separate inventories, subscriptions and metrics", async () => {
    // A source that has looked once listens to its repository.
    const listeners = (name: Name) => stores.subscriptions.subscribers(repositoryTopic(registry, name), signal);
    for (const name of names) {
      const key = { cluster: ids[name], group: sourceGroup, kind: "OCIRepository", namespace, name: app };
      await expect.poll(() => listeners(name)).toEqual([key]);
    }
    const revisions = { one: await push("one", ["a", "b"]), two: await push("two", ["b", "c"]) };
    for (const name of names) await expect.poll(() => ready(name)).toBe(revisions[name]);
    expect(await mapsOf("one")).toEqual(['a {"of":"one"}', 'b {"of":"one"}']);
    expect(await mapsOf("two")).toEqual(['b {"of":"two"}', 'c {"of":"two"}']);
    expect(await inventory("one")).toEqual(["apps_a__ConfigMap", "apps_b__ConfigMap"]);
    expect(await inventory("two")).toEqual(["apps_b__ConfigMap", "apps_c__ConfigMap"]);

    await untilAtRest();
    for (const name of names) {
      const { version: _, ...ref } = appRef;
      expect(await stores.items.get({ cluster: ids[name], ...ref }, signal)).toMatchObject({ attempts: 0 });
      const measured = log.lines.filter(({ message, key }) => message === "measured" && isOf(key, ids[name]));
      expect(measured.length).toBeGreaterThan(0);
    }
  });

  test("a push for one runs nothing in the other, and prunes only there", async () => {
    // Also of what is left to do for the pushes before.
    await untilAtRest();
    const before = await applied("one");
    const asked = log.lines.length;
    const revision = await push("two", ["b"]);
    await expect.poll(() => ready("two")).toBe(revision);
    expect(await mapsOf("two")).toEqual(['b {"of":"two"}']);
    expect(await applied("one")).toEqual(before);
    await untilAtRest();
    const finished = log.lines.slice(asked).filter(({ message }) => message === "reconcile finished");
    expect(finished.filter(({ key }) => isOf(key, ids.one))).toEqual([]);
    expect(finished.filter(({ key }) => isOf(key, ids.two)).length).toBeGreaterThan(0);
  });

  test("deleting the Kustomization of one deletes its objects, and nothing of the other", async () => {
    const before = await applied("two");
    await clusterOf("one").delete(appRef, { propagation: "Background" }, signal);
    await expect.poll(() => kustomization("one")).toBeUndefined();
    expect(await mapsOf("one")).toEqual([]);
    expect(await applied("two")).toEqual(before);
    expect((await kustomization("two"))?.status.inventory?.entries).toHaveLength(1);
  });
});

/** Whether the key of a log line is of this cluster. */
function isOf(key: unknown, cluster: string): boolean {
  return JSON.stringify(key).includes(JSON.stringify(cluster));
}
