import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { homeNetwork, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { endpointOf, fallbackUid } from "../../../lib/kube/endpoint.ts";
import { maxRemoteClusters, remoteClusters } from "../../../lib/kube/remote-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { inlineKubeconfig } from "../../doubles/cluster-fronts.ts";
import { pem } from "../../doubles/pem.ts";
import { tunnelProxy } from "../../doubles/tunnel-proxy.ts";
import { configMapOf, configOf, type FakeApi, fakeApi, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();

/** An API server that tells its uid, and counts its connections. */
async function counted() {
  const sockets = new Set<Socket>();
  let connections = 0;
  const api: FakeApi = await fakeApi((_, response) =>
    sendJson(response, 200, { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system", uid: "u1" } }),
  );
  api.server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return { ...api, open: () => sockets.size, connections: () => connections };
}

const stored = (id: string, version: string, text: string) => ({
  secret: `t/${id}`,
  key: "value",
  id,
  version,
  bytes: Buffer.from(text),
});

/** An API server that notes what it was shown. */
async function tokens() {
  const shown = new Set<string>();
  const api = await fakeApi((request, response) => {
    shown.add(request.headers.authorization ?? "");
    if (!sendDiscovery(request, response)) sendJson(response, 200, configMapOf("a"));
  });
  return { ...api, tokens: shown };
}

const target = {
  id: "u",
  arn: "arn:aws:eks:eu-west-1:123456789012:cluster/edge",
  address: undefined,
  ca: undefined,
  tenant: { cluster: "c", namespace: "n" },
  account: undefined,
};

describe("clusters of kubeconfigs", () => {
  test("keep their connection as long as the Secret is the same; another version closes the old one", async () => {
    const api = await counted();
    const clusters = remoteClusters({ clock: systemClock, network: homeNetwork });
    const text = inlineKubeconfig(configOf(api.url));
    const first = await clusters.byKubeconfig(stored("a", "1", text));
    expect(await first.uid(signal)).toBe("u1");
    expect(await clusters.byKubeconfig(stored("a", "1", "not looked at again"))).toBe(first);
    const other = await clusters.byKubeconfig(stored("a", "2", text));
    expect(other).not.toBe(first);
    expect(await other.uid(signal)).toBe("u1");
    expect(api.connections()).toBe(2);
    await expect.poll(() => api.open()).toBe(1);
    clusters.close();
    await expect.poll(() => api.open()).toBe(0);
    await api[Symbol.asyncDispose]();
  });

  test(`are ${maxRemoteClusters} at most: the least recently used is dropped, and opened again when needed`, async () => {
    const clusters = remoteClusters({ clock: systemClock, network: homeNetwork });
    const text = inlineKubeconfig(configOf(new URL("https://api.example.com")));
    const open = (id: number) => clusters.byKubeconfig(stored(String(id), "1", text));
    const [first, second] = [await open(0), await open(1)];
    for (let id = 2; id < maxRemoteClusters; id++) await open(id);
    expect(await open(0)).toBe(first);
    await open(maxRemoteClusters);
    expect(await open(0)).toBe(first);
    expect(await open(1)).not.toBe(second);
    clusters.close();
  });

  test("on EKS are described again after ten minutes: the connection stays if the answer is the same, and a new token is signed before", async () => {
    const [api, moved] = [await tokens(), await tokens()];
    const world = { now: 0, server: api.url, described: 0, signed: 0 };
    const clusters = remoteClusters({
      clock: { ...systemClock, now: () => world.now, monotonic: () => world.now },
      network: homeNetwork,
      eks: async () => async () => {
        world.described++;
        const supply = async () => ({ token: new Secret(`token-${++world.signed}`), renewAt: world.now + 600_000 });
        const token = { kind: "supplied", supply } as const;
        const user = { name: "u", certificate: undefined, token, impersonate: undefined };
        return configOf(world.server, { user });
      },
    });
    const open = () => clusters.byEks({ ...target, version: "1" }, signal);
    const first = await open();
    const apps = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" };
    await first.get(apps, signal);
    world.now = 599_000;
    expect(await open()).toBe(first);
    await first.get(apps, signal);
    expect(world).toMatchObject({ described: 1, signed: 1 });
    // A run that goes on meanwhile, as a service account: its requests carry another token.
    world.now = 601_000;
    await first.as("system:serviceaccount:n:a").get(apps, signal);
    expect(world).toMatchObject({ described: 1, signed: 2 });
    expect([...api.tokens]).toEqual(["Bearer token-1", "Bearer token-2"]);
    expect(await open()).toBe(first);
    world.now = 1_200_000;
    expect(await open()).toBe(first);
    expect(world.described).toBe(2);
    world.now = 1_202_000;
    world.server = moved.url;
    const second = await open();
    expect(second).not.toBe(first);
    await second.get(apps, signal);
    expect([...moved.tokens]).toHaveLength(1);
    expect(await clusters.byEks({ ...target, version: "2" }, signal)).not.toBe(second);
    clusters.close();
    await api[Symbol.asyncDispose]();
    await moved[Symbol.asyncDispose]();
  });

  test("are reached through the proxy of the kubeconfig, whose address is checked too", async () => {
    const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
    await using api = await fakeApi(
      (_, response) =>
        sendJson(response, 200, {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name: "kube-system", uid: "behind" },
        }),
      { cert, key },
    );
    using proxy = await tunnelProxy();
    const behind = (address: URL) =>
      inlineKubeconfig(
        configOf(address, {
          tls: { ca: cert, serverName: "api.sluice.test", insecure: false },
          proxy: new URL(`http://127.0.0.1:${proxy.port}`),
        }),
      );
    const allowed = remoteClusters({ clock: systemClock, network: homeNetwork });
    const cluster = await allowed.byKubeconfig(stored("a", "1", behind(api.url)));
    expect(await cluster.uid(signal)).toBe("behind");
    allowed.close();
    const refusing = remoteClusters({
      clock: systemClock,
      network: networkPolicy({ allow: ["api.example.com"] }, "functions"),
    });
    const refused = await refusing.byKubeconfig(stored("a", "1", behind(new URL("https://api.example.com"))));
    await expect(refused.uid(signal)).rejects.toMatchObject({ reason: "NetworkRefused" });
    refusing.close();
  });

  test("are identified for their uid by CA and address only", async () => {
    const ca = await pem("server.crt");
    const other = await pem("amazon.crt");
    const of = (address: string, authority?: string) =>
      fallbackUid({ server: new URL(address), tls: { ca: authority, serverName: undefined, insecure: false } });
    expect(of("https://a", ca)).toMatch(/^unread:[0-9a-f]{64}$/);
    expect(of("https://a", ca)).toBe(of("https://a:443/", `\n${ca}`));
    expect(
      new Set([
        of("https://a", ca),
        of("https://a", other),
        of("https://b", ca),
        of("https://a/k", ca),
        of("https://a"),
      ]).size,
    ).toBe(5);
  });

  test("are distinguished by what TLS verifies: the CAs, without them the host name, over plain HTTP the address", async () => {
    const [ca, other] = await Promise.all([pem("server.crt"), pem("amazon.crt")]);
    const of = (address: string, tls: { ca?: string; serverName?: string } = {}) =>
      endpointOf({ server: new URL(address), tls: { ca: undefined, serverName: undefined, insecure: false, ...tls } })
        .authority;
    const known = of("https://a", { ca });
    expect(known).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(of("https://b:6443/k", { ca: `text\n${ca}\n${ca}`, serverName: "c" })).toBe(known);
    expect(of("https://a", { ca: ca + other })).toBe(of("https://a", { ca: other + ca }));
    expect(of("https://b:8443", { serverName: "A" })).toBe(of("https://a"));
    const all = [known, of("https://a", { ca: other }), of("https://a", { ca: ca + other }), of("https://a")];
    all.push(of("https://b"), of("http://127.0.0.1:1"), of("http://127.0.0.1:2"));
    expect(new Set(all).size).toBe(all.length);
    const unverified = { ca, serverName: undefined, insecure: true };
    expect(endpointOf({ server: new URL("https://a"), tls: unverified }).authority).toBeUndefined();
  });

  test("trust no certificate that their identity does not include, whatever else OpenSSL reads in the text", async () => {
    const [cert, key, other] = await Promise.all([pem("server.crt"), pem("server.key"), pem("amazon.crt")]);
    await using api = await fakeApi((_, response) => sendJson(response, 200, {}), { cert, key });
    const hidden = cert.replaceAll("CERTIFICATE", "X509 CERTIFICATE");
    const tls = { ca: `${other}\n${hidden}`, serverName: "api.sluice.test", insecure: false };
    const clusters = remoteClusters({ clock: systemClock, network: homeNetwork });
    const cluster = await clusters.byKubeconfig(stored("a", "1", inlineKubeconfig(configOf(api.url, { tls }))));
    await expect(cluster.uid(signal)).rejects.toMatchObject({ reason: "Unreachable" });
    clusters.close();
  });
});
