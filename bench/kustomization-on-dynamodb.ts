import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { makeFlows } from "../functions/make-flows.ts";
import { runnerDeps } from "../functions/runner-deps.ts";
import { findCondition } from "../lib/api/condition.ts";
import { parseKustomization } from "../lib/api/kustomization.ts";
import { kustomizeGroup, sourceGroup } from "../lib/api/names.ts";
import { usualRules } from "../lib/apply/set/apply-rules.ts";
import type { DynamodbStores } from "../lib/aws/dynamodb/open-stores.ts";
import { defaultCanarySettings } from "../lib/canary/settings.ts";
import { type Digest, digestOf } from "../lib/core/digest.ts";
import { defaultGates } from "../lib/core/feature-gates.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import { asHome, asTarget } from "../lib/core/ports/home-and-target.ts";
import type { Flow } from "../lib/core/ports/run.ts";
import type { WakeUp } from "../lib/core/ports/wake-ups.ts";
import { Secret } from "../lib/core/secret.ts";
import { formatWorkKey, type WorkKey } from "../lib/core/work-key.ts";
import { installCrds } from "../lib/definitions/install-crds.ts";
import { defaultTiming } from "../lib/flows/interval.ts";
import { kinds } from "../lib/flows/kinds/kinds.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { handleWakeUp } from "../lib/queue/handle-wake-up.ts";
import type { QueueDeps, RunnerDeps } from "../lib/queue/queue-deps.ts";
import { reconcileRequests, requestReconcile } from "../lib/queue/request-reconcile.ts";
import { rules } from "../lib/queue/rules.ts";
import { gzip, packTar } from "../lib/sources/archive/pack-tar.ts";
import { noCanaryHttp } from "../test/doubles/no-canary-http.ts";
import { noCel } from "../test/doubles/no-cel.ts";
import { noHelm } from "../test/doubles/no-helm.ts";
import { noKeyServices } from "../test/doubles/no-key-services.ts";
import { noRemoteClusters } from "../test/doubles/no-remote-clusters.ts";
import { recordedMetrics } from "../test/doubles/recorded-metrics.ts";
import { silentLog } from "../test/doubles/silent-log.ts";

const { signal } = new AbortController();
const namespace = "default";
const name = "storefront";
const manager = "bench";
const log = {
  ...silentLog,
  error: (message: string, fields?: object) => void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};
const kustomization: WorkKey = { cluster: "production", group: kustomizeGroup, kind: "Kustomization", namespace, name };
const source: WorkKey = { ...kustomization, group: sourceGroup, kind: "OCIRepository" };

/** A Kustomization of so many objects on an API server of its own, its state in DynamoDB, its artifacts in memory. */
export interface KustomizationUnderTest extends AsyncDisposable {
  /** Makes the source publish an artifact: the first object has one value, all others another. Answers its revision. */
  publish(first: string, others: string): Promise<string>;
  /** A process with empty caches. */
  startProcess(): ProcessUnderTest;
}

export interface ProcessUnderTest {
  /** A request, the wake-up that it sends, and the run. Throws unless the revision is applied after it. */
  reconcile(revision: string): Promise<void>;
  /** The run of the interval: the clock moves to the due time, and the delayed wake-up arrives. Throws as `reconcile` does. */
  reconcileWhenDue(revision: string): Promise<void>;
}

/** @param open the stores of a process with empty caches */
export async function kustomizationOnDynamodb(
  open: () => DynamodbStores,
  size: number,
): Promise<KustomizationUnderTest> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sluice-bench-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silentLog });
  opening.defer(() => server.close());
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig());
  const config = await readKubeconfig({ file, env: {}, homeDir: folder });
  const cluster = connect(config, { clock: systemClock, env: {} });
  opening.defer(() => cluster.close());
  await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
  const of = { ...kustomization, cluster: `production-${size}` };
  const artifacts = new Map<Digest, Uint8Array>();
  await begin(cluster);
  const opened = opening.move();
  return {
    async publish(first, others) {
      const archive = await archiveOf(size, first, others);
      const digest = digestOf(archive);
      artifacts.set(digest, archive);
      return show(cluster, digest, open(), { ...source, cluster: of.cluster });
    },
    startProcess: () => processOf(of, open(), cluster, artifacts),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function processOf(
  key: WorkKey,
  stores: DynamodbStores,
  cluster: Cluster,
  artifacts: ReadonlyMap<Digest, Uint8Array>,
): ProcessUnderTest {
  const wait = { ms: 0 };
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + wait.ms };
  const delayed: WakeUp[] = [];
  const queue = queueOn(stores, clock, (wakeUp) => void delayed.push(wakeUp));
  const metrics = recordedMetrics();
  const home = asHome(cluster);
  const nothingFetched = () => Promise.reject(new Error("nothing is fetched"));
  const flows = makeFlows(kinds, {
    ...stores,
    artifacts: {
      get: async (digest) => artifacts.get(digest),
      has: async (digest) => artifacts.has(digest),
      put: async () => {},
    },
    artifactUrl: (path) => `https://sluice.invalid/${path}`,
    clock,
    home,
    targetAs: () => asTarget(cluster),
    gated: asTarget,
    remoteClusters: noRemoteClusters,
    defaultServiceAccount: "",
    defaultKubeconfigAccount: "",
    gates: defaultGates,
    canarySettings: defaultCanarySettings,
    timing: defaultTiming,
    applyRules: usualRules,
    canaryHttp: noCanaryHttp,
    metricServers: {},
    cel: noCel,
    helm: noHelm,
    concurrency: 8,
    engine: { build: () => Promise.reject(new Error("a plain folder needs no engine")) },
    http: { send: nothingFetched, open: nothingFetched, dial: nothingFetched },
    installationKey: new Secret("0".repeat(64)),
    log,
    metrics,
    noCrossNamespaceRefs: false,
    explainHealthFailures: true,
    sopsKeys: noKeyServices,
    skipLinks: false,
    sshAlgorithms: {},
    sopsIgnoreMac: false,
    requests: reconcileRequests(queue),
  });
  const deadLetters = { send: () => Promise.reject(new Error("a run did not end well")) };
  const deps = runnerDeps(queue, { clusters: { get: () => ({ home }) }, deadLetters, metrics, kinds });
  const flow = flows(key);
  if (flow === undefined) throw new Error(`no flow for ${key.kind}`);
  const assertApplied = async (revision: string): Promise<void> => {
    const live = await cluster.get({ ...key, version: "v1" }, signal);
    const ready = live && findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
    if (ready?.message !== `Applied revision: ${revision}`)
      throw new Error(`${revision} is not applied: ${ready?.message}`);
  };
  return {
    async reconcile(revision) {
      await runOnce(key, flow, deps);
      await assertApplied(revision);
    },
    async reconcileWhenDue(revision) {
      const wakeUp = delayed.findLast(({ dueAt }) => dueAt !== undefined);
      if (wakeUp?.dueAt === undefined) throw new Error(`${key.name} has no due time`);
      wait.ms += Math.max(0, wakeUp.dueAt - clock.now());
      await handleWakeUp({ wakeUp, extend: async () => {} }, flow, deps, signal);
      if (delayed.at(-1)?.dueAt === wakeUp.dueAt) throw new Error(`${key.name} did not run when it was due`);
      await assertApplied(revision);
    },
  };
}

function queueOn(
  { items }: DynamodbStores,
  clock: Clock = systemClock,
  sent: (wakeUp: WakeUp) => void = () => {},
): QueueDeps {
  return { items, wakeUps: { send: async (wakeUp) => sent(wakeUp) }, clock, log, rules };
}

async function runOnce(key: WorkKey, flow: Flow, deps: RunnerDeps): Promise<void> {
  await requestReconcile(key, "bench", deps, signal);
  await handleWakeUp({ wakeUp: { key: formatWorkKey(key) }, extend: async () => {} }, flow, deps, signal);
}

async function begin(cluster: Cluster): Promise<void> {
  const metadata = { name, namespace };
  const spec = { interval: "10m", url: "oci://127.0.0.1:1/storefront" };
  const sourceRef = { kind: source.kind, name };
  for (const manifest of [
    { apiVersion: `${sourceGroup}/v1`, kind: source.kind, metadata, spec },
    {
      apiVersion: `${kustomizeGroup}/v1`,
      kind: kustomization.kind,
      metadata,
      spec: { interval: "10m", path: "./", prune: true, sourceRef },
    },
  ]) {
    await cluster.apply(manifest, { manager, force: true }, signal);
  }
}

/** Does what the source's own flow does with an artifact that it has stored. */
async function show(cluster: Cluster, digest: Digest, stores: DynamodbStores, key: WorkKey): Promise<string> {
  const live = await cluster.get({ ...source, version: "v1" }, signal);
  const uid = live?.metadata.uid ?? "";
  const flow: Flow = async ({ fence }) => {
    await stores.records.record(key, uid, digest, fence, signal);
    return { outcome: "stored", dueInMs: undefined };
  };
  const deadLetters = { send: () => Promise.reject(new Error("a run did not end well")) };
  await runOnce(
    key,
    flow,
    runnerDeps(queueOn(stores), {
      clusters: { get: () => ({ home: asHome(cluster) }) },
      deadLetters,
      metrics: recordedMetrics(),
      kinds,
    }),
  );
  const revision = `latest@${digest}`;
  const artifact = {
    digest,
    revision,
    path: `${digest}.tar.gz`,
    url: "https://sluice.invalid/artifact",
    lastUpdateTime: new Date().toISOString(),
  };
  const patch = { type: "merge", body: { status: { artifact } } } as const;
  await cluster.patch({ ...source, version: "v1" }, patch, { manager, subresource: "status" }, signal);
  return revision;
}

async function archiveOf(size: number, first: string, others: string): Promise<Uint8Array> {
  const files = Array.from({ length: size }, (_, number) => {
    const metadata = { name: `storefront-component-${number}`, namespace };
    const data = { value: number === 0 ? first : others };
    const text = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
    return { type: "file", path: `${metadata.name}.yaml`, mode: 0o644, bytes: Buffer.from(text) } as const;
  });
  return gzip(packTar(files, 0o755));
}
