import { afterAll, beforeAll, expect, test } from "vitest";
import { CanaryStatus } from "../../../../lib/api/canary.ts";
import { defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { asHome, asTarget } from "../../../../lib/core/ports/home-and-target.ts";
import { canaryKind } from "../../../../lib/flows/kinds/canary.ts";
import type { FlowParts } from "../../../../lib/flows/kinds/kind.ts";
import { untilDeadline } from "../../../deadline.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../../doubles/embedded-cluster.ts";
import { noCanaryHttp } from "../../../doubles/no-canary-http.ts";
import { partOf } from "../../../doubles/part-of.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

const { signal } = new AbortController();
const key = { cluster: "here", group: "flagger.app", kind: "Canary", namespace: "apps", name: "podinfo" };
let embedded: EmbeddedCluster;
beforeAll(async () => {
  embedded = await embeddedCluster();
});
afterAll(() => embedded[Symbol.asyncDispose]());

test("a step is taken with the rights of the account that default-service-account names, and what those forbid is told", async () => {
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
  const none = async () => [];
  const flow = canaryKind.flow(
    partOf<FlowParts>({
      ...{ clock: steppedClock(), log: recordedLog(), metrics: recordedMetrics(), targetAs },
      ...{ canarySettings: defaultCanarySettings, canaryHttp: noCanaryHttp, metricServers: {} },
      home: asHome(embedded.cluster),
      defaultServiceAccount: "deployer",
      subscriptions: { subscribe: async () => undefined, subscribers: none, followers: none },
    }),
  );
  const { outcome } = await flow({
    ...{ key, fence: { key, token: 1 }, signal: untilDeadline(), isRequested: true, carried: undefined },
    assertLease: () => undefined,
    superseded: async () => false,
  });
  expect([users, outcome]).toEqual([["system:serviceaccount:apps:deployer"], "failed"]);
  const live = await embedded.cluster.get({ ...key, version: "v1beta1" }, signal);
  expect(CanaryStatus.parse(live?.["status"]).phase).toBe("Initializing");
  const told = await embedded.cluster.list({ group: "", version: "v1", kind: "Event", namespace: "apps" }, signal);
  expect(told.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('User "system:serviceaccount:apps:deployer" cannot get resource "deployments"'),
  );
});
