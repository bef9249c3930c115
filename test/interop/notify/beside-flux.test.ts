import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { eventJson } from "../../../lib/notify/event-json.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { withinDeadline } from "../../deadline.ts";
import { mayHaveOwnControlPlane } from "../../real/own-control-plane.ts";
import { metadata } from "../../unit/notify/sample-events.ts";
import { startWholeFlux } from "../fleet/start-whole-flux.ts";
import { builtWholeFlux } from "../flux-recorder/built-flux.ts";
import { movingScene } from "../moving-scene.ts";
import { type ProviderHosts, providerHosts } from "./provider-hosts.ts";
import { sluiceSender } from "./sluice-sender.ts";

const { signal } = new AbortController();
const built = await builtWholeFlux();
const missing = built === undefined || !mayHaveOwnControlPlane();
const needs =
  "needs SLUICE_FLUX_ALL_CONTROLLERS, SLUICE_FLUX_ALL_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/fleet/README.md";
const namespace = "default";
const commit = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";

/** What of a Provider's spec its type needs, with the path of its address. */
interface Case {
  readonly path?: string;
  readonly spec?: JsonObject;
  /** Whether Flux takes several keys of metadata in any order, as Go takes them out of a map. */
  readonly isUnordered?: true;
}

/**
 * The types that send by HTTP to the address of the Provider, and whose requests have no random part. Not azuredevops: Flux asks it for its
 * paths first.
 */
const types: Readonly<Record<string, Case>> = {
  generic: {},
  "generic-hmac": {},
  slack: { isUnordered: true, spec: { channel: "general" } },
  discord: { isUnordered: true, path: "/api/webhooks/1/a" },
  rocket: { isUnordered: true, spec: { channel: "general" } },
  msteams: {},
  googlechat: { isUnordered: true },
  webex: { isUnordered: true, spec: { channel: "room" } },
  lark: { isUnordered: true },
  matrix: { isUnordered: true, spec: { channel: "!room:matrix.example" } },
  opsgenie: {},
  alertmanager: { path: "/api/v2/alerts/" },
  grafana: { isUnordered: true, path: "/api/annotations" },
  pagerduty: { spec: { channel: "routing-key" } },
  datadog: { isUnordered: true },
  zulip: { spec: { channel: "stream/topic" } },
  github: {
    path: "/golden/repo",
    spec: { commitStatusExpr: "event.involvedObject.kind + '/' + provider.metadata.name" },
  },
  gitlab: { path: "/golden/repo" },
  gitea: { path: "/golden/repo" },
  githubdispatch: { path: "/golden/repo" },
};

/** Each event is for one type, by the name of its object: what Flux has taken once it refuses for five minutes. */
function eventsFor(type: string, { isUnordered }: Case): readonly NotificationEvent[] {
  const revision = `main@sha1:${commit}`;
  const many = { revision, "app-version": "1.4", summary: "of the controller" };
  const changes: readonly Partial<NotificationEvent>[] = [
    { message: "info without metadata" },
    { message: "an error", severity: "error", reason: "HealthCheckFailed", metadata: metadata({ revision }) },
    { message: "a commit", metadata: metadata({}, { commit }) },
    { message: "on the way", reason: "Progressing", metadata: metadata({ revision }) },
    { message: "a heartbeat", metadata: metadata({ revision, commit_status: "update" }) },
    { message: "a trace", severity: "trace" },
    {
      message: 'odd: <b> & "quotes" \\ * _ ` é \u2028 \u{1F600}\n\tsecond line',
      metadata: metadata({}, { "a:b": "<&>" }),
    },
    { message: "m".repeat(5_000), severity: "error", metadata: metadata({ revision }) },
    ...(isUnordered === undefined ? [{ message: "many keys", metadata: metadata(many, { env: "prod" }) }] : []),
  ];
  return changes.map((change) => ({
    involvedObject: {
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      namespace,
      name: type,
      uid: "5e1c7a90-2f6b-4d3e-9a41-7c0d2b8e6f15",
      resourceVersion: "48211",
    },
    severity: "info",
    timestamp: "2026-03-02T11:31:07Z",
    message: "",
    reason: "ReconciliationSucceeded",
    reportingController: "kustomize-controller",
    reportingInstance: "kustomize-controller-test",
    ...change,
  }));
}

/** The Provider that is applied last, for the events that show whether the controller knows all of them. */
const warmUp = "warm-up";

async function applyProvider(
  type: string,
  { path = `/${type}`, spec }: Case,
  origin: string,
  cluster: Cluster,
  name = type,
): Promise<void> {
  const options = { manager: "test", force: true };
  const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
  const meta = { name, namespace };
  const provider = { type, address: `${origin}${path}`, secretRef: { name: "token" }, ...spec };
  await cluster.apply({ apiVersion, kind: "Provider", metadata: meta, spec: provider }, options, signal);
  const alert = { providerRef: { name }, eventSources: [{ kind: "Kustomization", name }] };
  await cluster.apply({ apiVersion, kind: "Alert", metadata: meta, spec: alert }, options, signal);
}

describe.skipIf(missing)(
  `notification-controller and Sluice, of the same events${missing ? ` (${needs})` : ""}`,
  () => {
    const open = new AsyncDisposableStack();
    let hosts: ProviderHosts;
    let bySluice: (event: NotificationEvent, stop: AbortSignal) => Promise<void>;
    let events: string;

    beforeAll(async () => {
      if (built === undefined) return;
      const { cluster, folder, plane } = await movingScene(open);
      const flags = { "notification-controller": [] };
      const flux = open.use(
        await startWholeFlux({ ...built, kubeconfig: plane.adminKubeconfig, folder, cluster, flags }, signal),
      );
      ({ events } = flux);
      hosts = await providerHosts([...Object.keys(types), warmUp], open);
      const token = { apiVersion: "v1", kind: "Secret", metadata: { name: "token", namespace } };
      await cluster.apply(
        { ...token, stringData: { token: "golden-token" } },
        { manager: "test", force: true },
        signal,
      );
      for (const [type, of] of Object.entries(types)) {
        await applyProvider(type, of, hosts.origins[type] ?? "", cluster);
      }
      await applyProvider("generic", {}, hosts.origins[warmUp] ?? "", cluster, warmUp);
      bySluice = sluiceSender(cluster, open);
      await untilKnown(events, hosts);
    });
    afterAll(() => open.disposeAsync());

    test.each(Object.entries(types))("send the same requests to a Provider of type %s", async (type, of) => {
      const all = eventsFor(type, of);
      for (const event of all) await bySluice(event, signal);
      const expected = hosts.take(type);
      expect(expected).not.toEqual([]);
      for (const event of all) await post(events, event);
      await vi.waitFor(() => expect(hosts.got(type)).toEqual(expected), withinDeadline);
    });
  },
);

/** Until the controller's cache has all Alerts and Providers. */
async function untilKnown(address: string, hosts: ProviderHosts): Promise<void> {
  const [event] = eventsFor(warmUp, {});
  let count = 0;
  await vi.waitFor(async () => {
    if (event !== undefined) await post(address, { ...event, message: `warm-up ${count++}` });
    expect(hosts.got(warmUp)).not.toEqual([]);
  }, withinDeadline);
}

async function post(address: string, event: NotificationEvent): Promise<void> {
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(address, { method: "POST", headers, body: eventJson(event) });
  expect(status).toBe(202);
}
