import type { AgentOptions } from "node:https";
import { describe, expect, test, vi } from "vitest";
import { apiClient } from "../../../lib/kube/api-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { faultOf } from "../../contract/cluster/fault-of.ts";
import { pem } from "../../doubles/pem.ts";
import { tunnelProxy } from "../../doubles/tunnel-proxy.ts";
import { apiDeps, configMapOf, configOf, fakeApi, readNodes, sendDiscovery, sendJson } from "./fake-api.ts";

// As in Node 20 and the first releases of 22, whose agents know no proxy.
vi.mock("node:https", async (original) => {
  const https = await original<typeof import("node:https")>();
  class Agent extends https.Agent {
    constructor({ proxyEnv: _unknown, ...options }: AgentOptions = {}) {
      super(options);
    }
  }
  return { ...https, Agent };
});

const { signal } = new AbortController();
const configMaps = { group: "", version: "v1", kind: "ConfigMap", namespace: "n" };

describe("a proxy", () => {
  const through = async (server: URL, proxy: URL) =>
    configOf(server, { proxy, tls: { ca: await pem("server.crt"), serverName: undefined, insecure: false } });
  const secure = async (answer: Parameters<typeof fakeApi>[0]) =>
    fakeApi(answer, { cert: await pem("server.crt"), key: await pem("server.key") });

  test("that is configured is used, also by a Node whose agents know no proxy", async () => {
    await using api = await secure((_, response) => {
      sendJson(response, 200, {});
    });
    using proxy = await tunnelProxy();
    const client = apiClient(await through(api.url, new URL(`http://127.0.0.1:${proxy.port}`)), apiDeps);
    expect((await client.send(readNodes, signal)).status).toBe(200);
    expect(proxy.asked.map(({ target }) => target)).toEqual([api.url.host]);
    client.close();
  });

  test("is used for a server without TLS too", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(response, 200, {});
    });
    using proxy = await tunnelProxy();
    const client = apiClient(await through(api.url, new URL(`http://127.0.0.1:${proxy.port}`)), apiDeps);
    expect((await client.send(readNodes, signal)).status).toBe(200);
    expect(proxy.asked.map(({ target }) => target)).toEqual([api.url.host]);
    client.close();
  });

  test("carries watches too, to a server with a custom CA", async () => {
    await using api = await secure((request, response) => {
      if (!sendDiscovery(request, response))
        response.write(`${JSON.stringify({ type: "ADDED", object: configMapOf("a") })}\n`);
    });
    using proxy = await tunnelProxy();
    const cluster = connect(await through(api.url, new URL(`http://127.0.0.1:${proxy.port}`)), apiDeps);
    for await (const { type } of cluster.watch(configMaps, signal)) {
      expect(type).toBe("ADDED");
      break;
    }
    expect(proxy.asked.every(({ target }) => target === api.url.host)).toBe(true);
    cluster.close();
  });

  test("gets its username and password, which no error shows", async () => {
    await using api = await secure((_, response) => {
      sendJson(response, 200, {});
    });
    using proxy = await tunnelProxy("407 Proxy Authentication Required");
    const address = new URL(`http://us:s3cr3t@127.0.0.1:${proxy.port}`);
    const client = apiClient(await through(api.url, address), apiDeps);
    const error = await faultOf(client.send(readNodes, signal));
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from("us:s3cr3t").toString("base64")}`);
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toContain(`cannot be reached through the proxy http://127.0.0.1:${proxy.port}`);
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("s3cr3t");
    client.close();
  });

  test("that does not exist is named", async () => {
    const client = apiClient(await through(new URL("https://api.sluice.test"), new URL("http://127.0.0.1:1")), apiDeps);
    const { message } = await faultOf(client.send(readNodes, signal));
    expect(message).toContain(
      "the cluster at https://api.sluice.test cannot be reached through the proxy http://127.0.0.1:1",
    );
    client.close();
  });
});
