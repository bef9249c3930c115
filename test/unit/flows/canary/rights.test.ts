import { expect, test } from "vitest";
import { CanaryStatus } from "../../../../lib/api/canary.ts";
import { defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import type { ExternalMetrics } from "../../../../lib/core/ports/external-metrics.ts";
import { asHome, asTarget } from "../../../../lib/core/ports/home-and-target.ts";
import type { Flow } from "../../../../lib/core/ports/run.ts";
import { canaryKind } from "../../../../lib/flows/kinds/canary.ts";
import type { FlowParts } from "../../../../lib/flows/kinds/kind.ts";
import { untilDeadline } from "../../../deadline.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { noCanaryHttp } from "../../../doubles/no-canary-http.ts";
import { partOf } from "../../../doubles/part-of.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const key = { cluster: "here", group: "flagger.app", kind: "Canary", namespace: "apps", name: "podinfo" };
const embedded = fileCluster();

const none = async () => [];

/** The flow of an installation whose steps have the rights of the account `deployer`. */
function flowOf(parts: Partial<FlowParts>) {
  return canaryKind.flow(
    partOf<FlowParts>({
      ...{ clock: steppedClock(), log: recordedLog(), metrics: recordedMetrics() },
      ...{ canarySettings: defaultCanarySettings, canaryHttp: noCanaryHttp, metricServers: {} },
      home: asHome(embedded.cluster),
      targetAs: () => asTarget(embedded.cluster),
      defaultServiceAccount: "deployer",
      subscriptions: { subscribe: async () => undefined, subscribers: none, followers: none },
      ...parts,
    }),
  );
}

async function run(flow: Flow, isRequested = true) {
  return flow({
    ...{ key, fence: { key, token: 1 }, signal: untilDeadline(), isRequested, carried: undefined },
    assertLease: () => undefined,
    superseded: async () => false,
  });
}

test("a Canary's step uses the rights of the account in default-service-account, and reports what those forbid", async () => {
  const options = { manager: "test", force: true };
  const metadata = { name: key.name, namespace: key.namespace };
  await embedded.cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "apps" } }, options, signal);
  const spec = {
    targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" },
    service: { port: 9898 },
    analysis: { interval: "10s", threshold: 2, iterations: 2 },
  };
  await embedded.cluster.apply({ apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata, spec }, options, signal);
  const users: string[] = [];
  const targetAs = (user: string) => {
    users.push(user);
    const message = `deployments.apps "podinfo" is forbidden: User "${user}" cannot get resource "deployments"`;
    const get = async () => {
      throw new ApiError({ code: 403, reason: "Forbidden", message });
    };
    return asTarget({ ...embedded.cluster, get });
  };
  const { outcome } = await run(flowOf({ targetAs }));
  expect([users, outcome]).toEqual([["system:serviceaccount:apps:deployer"], "failed"]);
  const live = await embedded.cluster.get({ ...key, version: "v1beta1" }, signal);
  expect(CanaryStatus.parse(live?.["status"]).phase).toBe("Initializing");
  const told = await embedded.cluster.list({ group: "", version: "v1", kind: "Event", namespace: "apps" }, signal);
  expect(told.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('User "system:serviceaccount:apps:deployer" cannot get resource "deployments"'),
  );
});

test("a Canary reads external metrics with the rights of that account too", async () => {
  const metadata = { name: key.name, namespace: key.namespace };
  const options = { manager: "test", force: true };
  const spec = {
    ...{ provider: "kubernetes", targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" } },
    service: { port: 9898 },
    analysis: {
      interval: "10s",
      threshold: 2,
      iterations: 2,
      metrics: [{ name: "queue", templateRef: { name: "queue" } }],
    },
  };
  const template = { provider: { type: "externalmetrics" }, query: "ops/queue" };
  const deployment = {
    selector: { matchLabels: { app: "podinfo" } },
    template: {
      metadata: { labels: { app: "podinfo" } },
      spec: { containers: [{ name: "podinfod", image: "podinfo:1" }] },
    },
  };
  for (const manifest of [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "apps" } },
    {
      apiVersion: "flagger.app/v1beta1",
      kind: "MetricTemplate",
      metadata: { ...metadata, name: "queue" },
      spec: template,
    },
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: deployment },
    { apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata, spec },
  ]) {
    await embedded.cluster.apply(manifest, options, signal);
  }
  const users: unknown[] = [];
  const externalMetrics: ExternalMetrics = {
    async values({ user }) {
      users.push(user);
      return { items: [] };
    },
  };
  await run(flowOf({ metricServers: { externalMetrics } }), false);
  expect(users).toEqual(["system:serviceaccount:apps:deployer"]);
});
