import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { CanaryStatus } from "../../../../lib/api/canary.ts";
import { defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Manifest } from "../../../../lib/core/manifest.ts";
import type { Http } from "../../../../lib/core/ports/http.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import { canaryFlow } from "../../../../lib/flows/canary/canary-flow.ts";
import { canaryParts } from "../../../../lib/flows/canary/real-parts.ts";
import { untilDeadline } from "../../../deadline.ts";
import { checkedLease } from "../../../doubles/checked-lease.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { noCanaryHttp } from "../../../doubles/no-canary-http.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";
import { canaryOf } from "../../canary/hooks/hooks-world.ts";

const Wanted = z.object({ replicas: z.int() });
const count = z.int().default(0);
const Reached = z.object({
  availableReplicas: count,
  observedGeneration: count,
  replicas: count,
  updatedReplicas: count,
});
const { signal } = new AbortController();
const namespace = "apps";
const deployment = { group: "apps", version: "v1", kind: "Deployment", namespace } as const;
const embedded = fileCluster({
  observe: ({ verb, path }) => void requests.push(`${verb} ${path}`),
});
let requests: string[] = [];

beforeAll(async () => {
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});

async function apply(manifest: Manifest) {
  await embedded.cluster.apply(manifest, { manager: "test", force: true }, signal);
}

function podinfo(image: string) {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "podinfo", namespace },
    spec: {
      selector: { matchLabels: { app: "podinfo" } },
      template: {
        metadata: { labels: { app: "podinfo" } },
        spec: { containers: [{ name: "podinfod", image }] },
      },
    },
  };
}

/** Runs of the flow with all of its real parts. */
function runs() {
  const clock = steppedClock();
  const log = recordedLog();
  const key = { cluster: "here", group: "flagger.app", kind: "Canary", namespace, name: "podinfo" };
  let carried: JsonObject | undefined;
  return async (isRequested = false): Promise<FlowResult> => {
    clock.pass(10_000);
    const lease = checkedLease(() => undefined);
    const none = async () => [];
    const home = lease.checked(asHome(embedded.cluster));
    const flow = canaryFlow({
      ...{ clock, log, metrics: recordedMetrics(), settings: defaultCanarySettings },
      home,
      clusterOf: () => home,
      subscriptions: { subscribe: async () => undefined, subscribers: none, followers: none },
      parts: canaryParts({ canaryHttp: noCanaryHttp, clock, metricServers: {}, userOf: () => undefined }),
    });
    const result = await flow({
      ...{
        key,
        fence: { key, token: 1 },
        signal: untilDeadline(),
        assertLease: lease.assertLease,
        carried,
        isRequested,
      },
      superseded: async () => false,
    });
    carried = result.carried;
    return result;
  };
}

async function shown(): Promise<string> {
  const ref = { group: "flagger.app", version: "v1beta1", kind: "Canary", namespace, name: "podinfo" };
  const status = CanaryStatus.parse((await embedded.cluster.get(ref, signal))?.["status"] ?? {});
  return `${status.phase} i${status.iterations}`;
}

/** Once the controllers have made the pods of both workloads ready. */
async function settled(): Promise<void> {
  await expect
    .poll(async () => {
      const all = await embedded.cluster.list(deployment, signal);
      return all.every(({ metadata, spec, status }) => {
        const { replicas: wanted } = Wanted.parse(spec);
        const { availableReplicas, observedGeneration, replicas, updatedReplicas } = Reached.parse(status);
        const isWhole = [availableReplicas, replicas, updatedReplicas].every((count) => count === wanted);
        return isWhole && observedGeneration === metadata.generation;
      });
    })
    .toBe(true);
}

describe("a Canary on an API server", () => {
  test("is initialised, released and at rest, and writes nothing in a step that changes nothing", async () => {
    const run = runs();
    await apply(podinfo("podinfo:1"));
    await apply({
      ...{ apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata: { name: "podinfo", namespace } },
      spec: {
        ...{ provider: "kubernetes", targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" } },
        ...{ service: { port: 9898 }, analysis: { interval: "10s", threshold: 2, iterations: 2 } },
      },
    });
    const steps: string[] = [];
    const step = async (isRequested = false): Promise<{ asked: readonly string[]; dueInMs: number | undefined }> => {
      await settled();
      requests = [];
      const { dueInMs } = await run(isRequested);
      const asked = [...requests];
      const writes = asked.filter((request) => !/^(get|list) |events$/.test(request));
      steps.push(`${await shown()}: ${writes.length} writes`);
      return { asked, dueInMs };
    };
    await step(true);
    await step();
    await step(true);
    await apply(podinfo("podinfo:2"));
    await step(true);
    await step();
    const { asked } = await step();
    for (let ticks = 0; ticks < 3; ticks++) await step();
    expect(await step()).toMatchObject({ dueInMs: undefined });
    await step(true);
    expect(steps).toEqual([
      "Initializing i0: 4 writes",
      "Initialized i0: 3 writes",
      "Initialized i0: 0 writes",
      "Progressing i0: 2 writes",
      "Progressing i1: 1 writes",
      "Progressing i2: 1 writes",
      "Progressing i3: 1 writes",
      "Promoting i3: 2 writes",
      "Finalising i0: 1 writes",
      "Succeeded i0: 2 writes",
      "Succeeded i0: 0 writes",
    ]);
    expect(asked).toEqual([
      "get /apis/flagger.app/v1beta1/namespaces/apps/canaries/podinfo",
      "get /apis/apps/v1/namespaces/apps/deployments/podinfo",
      "get /apis/apps/v1/namespaces/apps/deployments/podinfo-primary",
      "patch /apis/flagger.app/v1beta1/namespaces/apps/canaries/podinfo/status",
      "create /api/v1/namespaces/apps/events",
    ]);
  });
});

describe("the metrics of a Canary", () => {
  test("each metric checks separately whether its server answers", async () => {
    const asked: string[] = [];
    const answer = { status: 200, headers: {}, body: Buffer.from('{"data":{"result":[{"value":[0,"1"]}]}}') };
    const of = (own: readonly string[]): Http => ({
      send: async ({ url }) => {
        asked.push(`${own.join(" ")}: ${url}`);
        return { url, ...answer };
      },
    });
    const canaryHttp = { ...noCanaryHttp, of };
    const clock = steppedClock();
    const parts = canaryParts({ canaryHttp, clock, metricServers: {}, userOf: () => undefined });
    const metrics = ["request-success-rate", "request-duration"].map((name) => ({ name }));
    const canary = canaryOf({ metrics }, { metricsServer: "http://prometheus.test" });
    const step = {
      cluster: embedded.cluster,
      settings: defaultCanarySettings,
      clock,
      log: recordedLog(),
      signal,
      hooksLeftMs: () => 0,
    };
    await parts.metrics(canary, step).probe();
    expect(asked).toEqual(Array(2).fill("test: http://prometheus.test/api/v1/query?query=vector%281%29"));
  });
});
