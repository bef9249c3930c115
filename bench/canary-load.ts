import { once } from "node:events";
import { createServer } from "node:http";
import { CanaryStatus } from "../lib/api/canary.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";

const namespace = "default";
const options = { manager: "bench", force: true };

/** Applies Canaries with the Gateway API and one metric, every ten seconds, and the Deployments that they release: 2 % a step up to 50 %. */
export function applyCanaries(count: number, cluster: Cluster, signal: AbortSignal): Promise<void> {
  return pooled(count, (index) => applyCanary(index, cluster, signal));
}

/** Changes the Deployment of each Canary, so that all of them begin a run. */
export function releaseAll(count: number, cluster: Cluster, signal: AbortSignal): Promise<void> {
  return pooled(count, async (index) => {
    await cluster.apply(deployment(`app-${index}`, "2"), options, signal);
  });
}

/** Serves a Prometheus that answers each query with 100, until `open` is disposed. Answers its address. */
export async function prometheus(open: AsyncDisposableStack): Promise<string> {
  const result = [{ metric: {}, value: [0, "100"] }];
  const body = JSON.stringify({ status: "success", data: { resultType: "vector", result } });
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(request.url?.includes("vector%281%29") === true ? body.replace('"100"', '"1"') : body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.defer(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Prometheus has no port");
  return `http://127.0.0.1:${address.port}`;
}

async function applyCanary(index: number, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const name = `app-${index}`;
  const metadata = { name, namespace };
  await cluster.apply(deployment(name, "1"), options, signal);
  const metrics = [{ name: "request-success-rate", interval: "1m", thresholdRange: { min: 99 } }];
  const spec = {
    targetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    service: { port: 80, gatewayRefs: [{ name: "gateway", namespace: "gateway" }] },
    analysis: { interval: "10s", threshold: 5, maxWeight: 50, stepWeight: 2, metrics },
  };
  await cluster.apply({ apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata, spec }, options, signal);
}

/** With its label on the object too, as `kubectl create deployment` and charts write it. */
function deployment(name: string, version: string) {
  const labels = { app: name };
  const containers = [{ name: "app", image: `registry.example/app:${version}`, ports: [{ containerPort: 80 }] }];
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace, labels } },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

/** The status of each Canary. */
export async function statuses(cluster: Cluster, signal: AbortSignal): Promise<readonly CanaryStatus[]> {
  const kind = { group: "flagger.app", version: "v1beta1", kind: "Canary", namespace };
  return (await cluster.list(kind, signal)).map((live) => CanaryStatus.parse(live["status"] ?? {}));
}

/** The sum of the weights of all Canaries: two more for each step. */
export async function weights(cluster: Cluster, signal: AbortSignal): Promise<number> {
  return (await statuses(cluster, signal)).reduce((sum, { canaryWeight = 0 }) => sum + canaryWeight, 0);
}

async function pooled(count: number, act: (index: number) => Promise<void>): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const worker = async () => {
    for (const index of indexes) await act(index);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
