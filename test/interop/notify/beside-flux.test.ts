import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { eventJson } from "../../../lib/notify/event-json.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";
import { withinDeadline } from "../../deadline.ts";
import { pem, pemFile } from "../../doubles/pem.ts";
import { tunnelProxy } from "../../doubles/tunnel-proxy.ts";
import { mayHaveOwnControlPlane } from "../../real/own-control-plane.ts";
import { startWholeFlux } from "../fleet/start-whole-flux.ts";
import { builtWholeFlux } from "../flux-recorder/built-flux.ts";
import { movingScene } from "../moving-scene.ts";
import { eventsFor, namespace, type ProviderCase, providerCases, secrets } from "./provider-cases.ts";
import { type ProviderHosts, providerHosts } from "./provider-hosts.ts";
import { sluiceSender } from "./sluice-sender.ts";

const { signal } = new AbortController();
const built = await builtWholeFlux();
const missing = built === undefined || !mayHaveOwnControlPlane();
const needs =
  "needs SLUICE_FLUX_ALL_CONTROLLERS, SLUICE_FLUX_ALL_CRDS and SLUICE_REAL_KUBECONFIG: test/interop/fleet/README.md";
const options = { manager: "test", force: true };

/** The Provider that is applied last, for the events that show whether the controller knows all of them. */
const warmUp = "warm-up";

async function applyProvider(
  type: string,
  { address = (origin) => `${origin}${path}`, path = `/${type}`, secret = "token", spec }: ProviderCase,
  origin: string,
  cluster: Cluster,
  name = type,
): Promise<void> {
  const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
  const meta = { name, namespace };
  const provider = { type, address: address(origin), secretRef: { name: secret }, ...spec };
  await cluster.apply({ apiVersion, kind: "Provider", metadata: meta, spec: provider }, options, signal);
  const alert = { providerRef: { name }, eventSources: [{ kind: "Kustomization", name }] };
  await cluster.apply({ apiVersion, kind: "Alert", metadata: meta, spec: alert }, options, signal);
}

async function applySecret(name: string, stringData: Readonly<Record<string, string>>, cluster: Cluster) {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData };
  await cluster.apply(secret, options, signal);
}

/** Trusts the hosts that are reached by names of the internet, as the variable of Flux's process says. */
async function trustHosts(open: AsyncDisposableStack): Promise<void> {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, await pem("telegram.crt")]);
  open.defer(() => setDefaultCACertificates(before));
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
      hosts = await providerHosts([...Object.keys(providerCases), warmUp], open);
      const { bitbucket = "", telegram = "" } = hosts.origins;
      const env = { BITBUCKET_API_BASE_URL: `${bitbucket}/2.0`, SSL_CERT_FILE: pemFile("telegram.crt") };
      const flags = { "notification-controller": [] };
      const flux = open.use(
        await startWholeFlux({ ...built, kubeconfig: plane.adminKubeconfig, folder, cluster, flags, env }, signal),
      );
      ({ events } = flux);
      for (const [name, data] of Object.entries(secrets)) await applySecret(name, data, cluster);
      const proxy = open.use(await tunnelProxy(undefined, Number(new URL(telegram).port)));
      await applySecret("proxy", { address: `http://127.0.0.1:${proxy.port}` }, cluster);
      for (const [type, of] of Object.entries(providerCases)) {
        await applyProvider(type, of, hosts.origins[type] ?? "", cluster);
      }
      await applyProvider("generic", {}, hosts.origins[warmUp] ?? "", cluster, warmUp);
      await trustHosts(open);
      bySluice = sluiceSender(cluster, { "https://api.bitbucket.org": bitbucket }, open);
      await untilKnown(events, hosts);
    });
    afterAll(() => open.disposeAsync());

    test.each(Object.entries(providerCases))("send the same requests to a Provider of type %s", async (type, of) => {
      const all = eventsFor(type, of);
      const counts: number[] = [];
      for (const event of all) {
        await bySluice(event, signal);
        counts.push(hosts.got(type).length);
      }
      const expected = hosts.take(type);
      expect(expected).not.toEqual([]);
      for (const [index, event] of all.entries()) {
        await post(events, event);
        if (of.isStepwise !== true) continue;
        await vi.waitFor(() => expect(hosts.got(type)).toHaveLength(counts[index] ?? 0), withinDeadline);
      }
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
