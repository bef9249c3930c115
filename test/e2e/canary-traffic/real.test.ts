import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { CanaryStatus } from "../../../lib/api/canary.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { type SluiceProcess, startSluiceProcess } from "../../../local/sluice-process.ts";
import { withinDeadline } from "../../deadline.ts";
import { ask } from "../../real/ask.ts";
import { onOwnAddress } from "../../real/on-own-address.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { scrapedBy } from "../../real/scraped-by.ts";
import { readBackends } from "./backends.ts";
import { canary, deployment, images, podServers, prometheusInCluster } from "./scene.ts";
import { type Passed, type WeightedProxy, weightedProxy } from "./weighted-proxy.ts";

const { signal } = new AbortController();
const prometheus = process.env["SLUICE_REAL_PROMETHEUS_URL"] ?? "";
const isMissing = prometheus === "" || !mayHaveOwnControlPlane();
const needs = "set SLUICE_REAL_KUBECONFIG and SLUICE_REAL_PROMETHEUS_URL";
const patient = { ...withinDeadline, interval: 200 };
const requestEveryMs = 20;
// Prometheus keeps what earlier runs of this file have told it.
const run = Date.now();
const [good, bad] = [`good-${run}`, `bad-${run}`];

describe.skipIf(isMissing)(`a release on a real control plane, measured by a real Prometheus (${needs})`, () => {
  const open = new AsyncDisposableStack();
  let cluster: Cluster;
  let proxy: WeightedProxy;
  let sluice: SluiceProcess;

  const apply = (manifest: Manifest) => cluster.apply(manifest, { manager: "kubectl", force: true }, signal);

  beforeAll(async () => {
    const plane = open.use(await ownControlPlane());
    const connected = connect(await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: "/" }), {
      clock: systemClock,
      env: {},
    });
    open.defer(() => connected.close());
    cluster = connected;
    const servers = open.use(await podServers());
    proxy = open.use(await weightedProxy(cluster, servers.of, signal));
    open.use(await scrapedBy(process.env["SLUICE_REAL_PROMETHEUS_TARGETS"] ?? "", proxy.address));
    for (const name of [good, bad, "monitoring"])
      await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const forwarded = open.use(await onOwnAddress(prometheus));
    await prometheusInCluster(cluster, "monitoring", forwarded, signal);
    sluice = await startSluice(plane.kubeconfig, open);
    for (const namespace of [good, bad]) {
      await apply(deployment(namespace, images.first));
      // No values yet is a failed check too.
      await apply(canary(namespace, namespace === good ? 20 : 3));
      open.use(load(proxy, namespace));
    }
    for (const namespace of [good, bad]) await untilPhase(namespace, "Initialized");
  });
  afterAll(() => open.disposeAsync());

  const get = async (group: string, version: string, kind: string, namespace: string, name: string) => {
    const live = await cluster.get({ group, version, kind, namespace, name }, signal);
    if (live === undefined) throw new Error(`${kind}/${name} is gone`);
    return live;
  };
  const untilPhase = async (namespace: string, phase: string): Promise<void> => {
    const status = async () => (await get("flagger.app", "v1beta1", "Canary", namespace, "podinfo"))["status"];
    await vi.waitFor(async () => expect(CanaryStatus.parse((await status()) ?? {}).phase).toBe(phase), patient);
  };
  /** Until the route that the proxy follows sends everything to pods of this image. */
  const untilServedBy = async (namespace: string, image: string): Promise<void> => {
    const isServed = () => {
      const last = proxy.passed(namespace).slice(-20);
      return last.length === 20 && last.every((one) => one.image === image);
    };
    await vi.waitUntil(isServed, patient);
  };
  const weights = async (namespace: string) => {
    const backends = await readBackends(cluster, { namespace, name: "podinfo" }, signal);
    return backends.map(({ service, weight }) => `${service} ${weight}`);
  };
  const primaryImage = async (namespace: string) =>
    JSON.stringify((await get("apps", "v1", "Deployment", namespace, "podinfo-primary"))["spec"]);

  test.concurrent("without errors gets half of the requests, each counted, and then all; none fails, and Prometheus is asked through the API server", async () => {
    await untilServedBy(good, images.first);
    const before = proxy.passed(good).length;
    await apply(deployment(good, images.second));
    await untilPhase(good, "Succeeded");
    await untilServedBy(good, images.second);
    const passed = proxy.passed(good).slice(before);
    expect(new Set(passed.map(({ weight }) => weight))).toEqual(new Set([0, 50]));
    expect(passed.filter(({ status }) => status !== 200)).toEqual([]);
    const halved = passed.filter(({ weight }) => weight === 50);
    const ofCanary = halved.filter(isOfCanary).length;
    expect(ofCanary).toBeGreaterThan(0);
    expect(Math.abs(ofCanary - halved.length / 2)).toBeLessThanOrEqual(1);
    expect(passed.filter((one) => one.weight === 0 && isOfCanary(one))).toEqual([]);
    await vi.waitFor(async () => expect(await countedByPrometheus(good)).toBe(ofCanary), patient);
    expect(await weights(good)).toEqual(["podinfo-primary 100", "podinfo-canary 0"]);
    expect(await primaryImage(good)).toContain(images.second);
    const asked = sluice.requests.filter(({ path }) => path.includes("/services/prometheus:9090/proxy"));
    expect(asked.some(({ status }) => status === 200)).toBe(true);
  });

  test.concurrent("with errors is rolled back because of Prometheus' counts, and no more requests reach it", async () => {
    await untilServedBy(bad, images.first);
    await apply(deployment(bad, images.faulty));
    await untilPhase(bad, "Failed");
    await untilServedBy(bad, images.first);
    const before = proxy.passed(bad).filter(isOfCanary).length;
    const { length } = proxy.passed(bad);
    await vi.waitUntil(() => proxy.passed(bad).length > length + 100, patient);
    expect(proxy.passed(bad).filter(isOfCanary)).toHaveLength(before);
    expect(before).toBeGreaterThan(0);
    const later = proxy.passed(bad).slice(length);
    expect(later.filter(({ image, status }) => image !== images.first || status !== 200)).toEqual([]);
    await vi.waitFor(async () => expect(await countedByPrometheus(bad)).toBe(before), patient);
    expect(await warnings(cluster, bad)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Halt podinfo\.bad-\d+ advancement success rate \d+\.\d\d% < 99%$/),
        `Rolling back podinfo.${bad} failed checks threshold reached 3`,
        `Canary failed! Scaling down podinfo.${bad}`,
      ]),
    );
    expect(await weights(bad)).toEqual(["podinfo-primary 100", "podinfo-canary 0"]);
    expect(await primaryImage(bad)).toContain(images.first);
  });
});

/** Sluice with a setting for the Prometheus of the cluster, and no other way to it. */
async function startSluice(kubeconfig: string, open: AsyncDisposableStack): Promise<SluiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-canary-traffic-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, "settings.yaml");
  const settings = {
    "mesh-provider": "gatewayapi:v1",
    "metrics-server": "http://prometheus.monitoring:9090",
    "canary-service-namespaces": ["monitoring"],
  };
  await writeFile(config, JSON.stringify(settings));
  const args = ["--state", join(folder, "state"), "--kubeconfig", kubeconfig, "--config", config];
  const sluice = await startSluiceProcess(args, signal);
  open.defer(async () => void (await sluice.stop()));
  return sluice;
}

/** The users of one namespace: a request after the other, until it is disposed of. */
function load({ address }: WeightedProxy, namespace: string): AsyncDisposable {
  const over = new AbortController();
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(`http://${address}/${namespace}`, (response) => response.resume().on("end", resolve));
      sent.on("error", reject).end();
    });
  const ended = (async () => {
    while (!over.signal.aborted) {
      // One that was cut off is in no list.
      await send().catch(() => undefined);
      await sleep(requestEveryMs);
    }
  })();
  // Awaited at the end: until then it must not end this process.
  ended.catch(() => undefined);
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await ended;
    },
  };
}

function isOfCanary({ pod }: Passed): boolean {
  return pod !== "" && !pod.startsWith("podinfo-primary-");
}

const Counted = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

/** How many requests of the canary Prometheus has counted. */
async function countedByPrometheus(namespace: string): Promise<number> {
  const labels = `kubernetes_namespace="${namespace}",kubernetes_pod_name!~"|podinfo-primary-.*"`;
  const query = `sum(http_request_duration_seconds_count{${labels}})`;
  const answer = await ask(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`);
  const [series] = Counted.parse(JSON.parse(answer?.text ?? "")).data.result;
  return Number(series?.value[1] ?? 0);
}

async function warnings(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const fieldSelector = "involvedObject.kind=Canary,type=Warning";
  const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, signal);
  return found.map(({ message }) => String(message));
}
