import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Secret } from "../../../lib/core/secret.ts";
import { agentsOf } from "../../../lib/kube/agents.ts";
import { apiClient } from "../../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { faultOf } from "../../contract/cluster/fault-of.ts";
import { pem } from "../../doubles/pem.ts";
import { apiDeps, configMapOf, configOf, fakeApi, readNodes, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const configMaps = { group: "", version: "v1", kind: "ConfigMap", namespace: "n" };
const withToken = (server: URL, token: string): ClusterConfig => {
  const config = configOf(server);
  return { ...config, user: { ...config.user, token: { kind: "token", token: new Secret(token) } } };
};

describe("a cluster whose certificates changed", () => {
  test("is distinguished from one that was never trusted, and gets no request", async () => {
    let requests = 0;
    const server = { cert: await pem("server.crt"), key: await pem("server.key") };
    await using api = await fakeApi((_, response) => {
      requests++;
      sendJson(response, 200, {});
    }, server);
    const former = await pem("client.crt");
    const config = { ...withToken(api.url, "t"), tls: { ca: former, serverName: undefined, insecure: false } };
    const client = apiClient(config, apiDeps);
    const error = await faultOf(client.send(readNodes, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toMatch(
      /was not issued by the certificate-authority that we know \([A-Z_]+\): the cluster's CA has changed/,
    );
    expect(requests).toBe(0);
    client.close();
  });

  test("and whose own certificate has expired is reported as such", async () => {
    const cert = await pem("expired.crt");
    await using api = await fakeApi(() => {}, { cert, key: await pem("expired.key") });
    const client = apiClient(configOf(api.url, { tls: { ca: cert, serverName: undefined, insecure: false } }), apiDeps);
    expect((await faultOf(client.send(readNodes, signal))).message).toContain("certificate has expired");
    client.close();
  });
});

describe("credentials that expire during a run", () => {
  const unauthorized = { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" };

  test("in a kubeconfig give one clear failure, without the token", async () => {
    let requests = 0;
    await using api = await fakeApi((_, response) => {
      requests++;
      if (requests === 1) sendJson(response, 200, {});
      else sendJson(response, 401, unauthorized);
    });
    const client = apiClient(withToken(api.url, "s3cr3t"), apiDeps);
    await client.send(readNodes, signal);
    const error = await faultOf(client.send(readNodes, signal));
    expect(error).toMatchObject({ code: 401, reason: "Unauthorized" });
    expect(error.message).toBe(
      `the cluster at ${api.url.origin} (test) does not take the credential of u: Unauthorized; check that it may enter there and that the clocks agree`,
    );
    expect(requests).toBe(2);
    client.close();
  });

  test("from a file are read again, once for all refused requests", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-token-"));
    const path = join(folder, "token");
    await writeFile(path, "one");
    let valid = "Bearer one";
    await using api = await fakeApi(({ headers }, response) => {
      sendJson(response, headers.authorization === valid ? 200 : 401, unauthorized);
    });
    const config = configOf(api.url);
    const client = apiClient({ ...config, user: { ...config.user, token: { kind: "file", path } } }, apiDeps);
    await client.send(readNodes, signal);
    valid = "Bearer two";
    await writeFile(path, "two");
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.send(readNodes, signal)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    client.close();
    await rm(folder, { recursive: true });
  });

  test("are renewed for the next watch", async () => {
    const tokens: (string | undefined)[] = [];
    let made = 0;
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      tokens.push(request.headers.authorization);
      if (tokens.length === 1) sendJson(response, 401, unauthorized);
      else response.write(`${JSON.stringify({ type: "ADDED", object: configMapOf("a") })}\n`);
    });
    const supply = async () => ({ token: new Secret(`t${++made}`), renewAt: Number.POSITIVE_INFINITY });
    const config = configOf(api.url);
    const cluster = connect({ ...config, user: { ...config.user, token: { kind: "supplied", supply } } }, apiDeps);
    const watch = () => cluster.watch(configMaps, signal)[Symbol.asyncIterator]();
    expect(await faultOf(watch().next())).toMatchObject({ code: 401, reason: "Unauthorized" });
    const second = watch();
    expect((await second.next()).value).toMatchObject({ type: "ADDED" });
    await second.return?.();
    expect(tokens).toEqual(["Bearer t1", "Bearer t2"]);
    cluster.close();
  });
});

describe("connections with a certificate that was replaced", () => {
  test("are closed if they are idle, and otherwise when they become idle", async () => {
    const held = Promise.withResolvers<void>();
    const closed: string[] = [];
    await using api = await fakeApi((request, response) => {
      const url = request.url ?? "";
      request.socket.once("close", () => closed.push(url));
      if (url === "/slow") void held.promise.then(() => response.end("{}"));
      else response.end("{}");
    });
    const certificate = { cert: "CERT", key: new Secret("KEY") };
    const agents = agentsOf(configOf(api.url));
    const { request } = process.getBuiltinModule("node:http");
    const ask = (path: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      request(new URL(path, api.url), { agent: agents.of(undefined, false) }, (response) => {
        response.resume().on("end", resolve);
      })
        .on("error", reject)
        .end();
      return promise;
    };
    const slow = ask("/slow");
    await ask("/quick");
    agents.of(certificate, false);
    await expect.poll(() => closed).toEqual(["/quick"]);
    held.resolve();
    await slow;
    await expect.poll(() => closed).toEqual(["/quick", "/slow"]);
    agents.close();
  });
});
