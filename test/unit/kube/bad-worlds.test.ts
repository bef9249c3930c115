import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { agentsOf } from "../../../lib/kube/agents.ts";
import { type ApiRequest, apiClient } from "../../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { tunnelProxy } from "../../doubles/tunnel-proxy.ts";
import { apiDeps, configMapOf, configOf, fakeApi, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const read: ApiRequest = { verb: "get", method: "GET", path: "/api/v1/nodes", repeatable: true };
const configMaps = { group: "", version: "v1", kind: "ConfigMap", namespace: "n" };
const tls = join(import.meta.dirname, "../../fixtures/tls");
const fixture = (name: string) => readFile(join(tls, name), "utf8");
const withToken = (server: URL, token: string): ClusterConfig => {
  const config = configOf(server);
  return { ...config, user: { ...config.user, token: { kind: "token", token: new Secret(token) } } };
};

async function faultOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error("expected an ApiError", { cause: error });
}

describe("a proxy", () => {
  const through = async (server: URL, proxy: URL) =>
    configOf(server, { proxy, tls: { ca: await fixture("server.crt"), serverName: undefined, insecure: false } });
  const secure = async (answer: Parameters<typeof fakeApi>[0]) =>
    fakeApi(answer, { cert: await fixture("server.crt"), key: await fixture("server.key") });

  test("carries watches too, to a server of a custom authority", async () => {
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

  test("is given its user and password, which no error holds", async () => {
    await using api = await secure((_, response) => {
      sendJson(response, 200, {});
    });
    using proxy = await tunnelProxy("407 Proxy Authentication Required");
    const address = new URL(`http://us:s3cr3t@127.0.0.1:${proxy.port}`);
    const client = apiClient(await through(api.url, address), apiDeps);
    const error = await faultOf(client.send(read, signal));
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from("us:s3cr3t").toString("base64")}`);
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toContain(`cannot be reached through the proxy http://127.0.0.1:${proxy.port}`);
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("s3cr3t");
    client.close();
  });

  test("that is not there is named", async () => {
    using proxy = await tunnelProxy();
    const { port } = proxy;
    proxy[Symbol.dispose]();
    const client = apiClient(
      await through(new URL("https://api.sluice.test"), new URL(`http://127.0.0.1:${port}`)),
      apiDeps,
    );
    const { message } = await faultOf(client.send(read, signal));
    expect(message).toContain(
      `the cluster at https://api.sluice.test cannot be reached through the proxy http://127.0.0.1:${port}`,
    );
    client.close();
  });
});

describe("a cluster whose certificates changed", () => {
  test("is told from one that was never trusted, and is sent nothing", async () => {
    let requests = 0;
    const server = { cert: await fixture("server.crt"), key: await fixture("server.key") };
    await using api = await fakeApi((_, response) => {
      requests++;
      sendJson(response, 200, {});
    }, server);
    const former = await fixture("client.crt");
    const config = { ...withToken(api.url, "t"), tls: { ca: former, serverName: undefined, insecure: false } };
    const client = apiClient(config, apiDeps);
    const error = await faultOf(client.send(read, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toMatch(
      /is not of the authority that we were given for it \([A-Z_]+\): the cluster's CA has changed/,
    );
    expect(requests).toBe(0);
    client.close();
  });

  test("and whose own certificate has expired is said to have", async () => {
    const cert = await fixture("expired.crt");
    await using api = await fakeApi(() => {}, { cert, key: await fixture("expired.key") });
    const client = apiClient(configOf(api.url, { tls: { ca: cert, serverName: undefined, insecure: false } }), apiDeps);
    expect((await faultOf(client.send(read, signal))).message).toContain("certificate has expired");
    client.close();
  });
});

describe("a credential that ends in the middle of a run", () => {
  const unauthorized = { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" };

  test("and is the kubeconfig's own is one clear failure, without the token", async () => {
    let requests = 0;
    await using api = await fakeApi((_, response) => {
      requests++;
      if (requests === 1) sendJson(response, 200, {});
      else sendJson(response, 401, unauthorized);
    });
    const client = apiClient(withToken(api.url, "s3cr3t"), apiDeps);
    await client.send(read, signal);
    const error = await faultOf(client.send(read, signal));
    expect(error).toMatchObject({ code: 401, reason: "Unauthorized" });
    expect(error.message).toBe(
      `the cluster at ${api.url.origin} (test) does not take the credential of u: Unauthorized; check that it may enter there and that the clocks agree`,
    );
    expect(requests).toBe(2);
    client.close();
  });

  test("and comes from a file is read again, once for all who are refused", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-token-"));
    const path = join(folder, "token");
    await writeFile(path, "one");
    let valid = "Bearer one";
    await using api = await fakeApi(({ headers }, response) => {
      sendJson(response, headers.authorization === valid ? 200 : 401, unauthorized);
    });
    const config = configOf(api.url);
    const client = apiClient({ ...config, user: { ...config.user, token: { kind: "file", path } } }, apiDeps);
    await client.send(read, signal);
    valid = "Bearer two";
    await writeFile(path, "two");
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.send(read, signal)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    client.close();
    await rm(folder, { recursive: true });
  });

  test("is renewed for the next watch", async () => {
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

describe("connections of a certificate that was replaced", () => {
  test("are closed where they are idle, and the others once they are", async () => {
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

describe("answers without end", () => {
  test("to a watch that is refused are read for as long as a request may take, and its status is told", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) response.writeHead(403).write("no entry");
    });
    const cluster = connect(configOf(api.url), { ...apiDeps, limitMs: 400 });
    const error = await faultOf(cluster.watch(configMaps, signal)[Symbol.asyncIterator]().next());
    expect(error).toMatchObject({ code: 403, reason: "Forbidden", message: "no entry" });
    cluster.close();
  });

  test("in a Status are shortened, and say by how much", async () => {
    const message = "x".repeat(1_000_000);
    const causes = [{ reason: "FieldValueInvalid", field: "f".repeat(5_000), message }];
    await using api = await fakeApi((_, response) => {
      sendJson(response, 422, { kind: "Status", code: 422, reason: "Invalid", message, details: { causes } });
    });
    const client = apiClient(configOf(api.url), apiDeps);
    const error = await faultOf(client.expect(read, signal));
    expect(error).toMatchObject({ code: 422, reason: "Invalid" });
    expect(error.message).toMatch(/^x{16384}… \(983616 more letters\)$/);
    expect(JSON.stringify(error.causes).length).toBeLessThan(6_000);
    client.close();
  });
});

describe("a server of another version", () => {
  const group = (extra: object = {}) => ({
    metadata: { name: "" },
    versions: [
      {
        version: "v1",
        resources: [
          {
            resource: "configmaps",
            scope: "Namespaced",
            verbs: ["get", "list", "watch", "levitate"],
            responseKind: { group: "", version: "v1", kind: "ConfigMap" },
            ...extra,
          },
        ],
        freshness: "Current",
        ...extra,
      },
    ],
    ...extra,
  });
  const serving = (accepted: string, extra: object = {}) =>
    fakeApi((request, response) => {
      if (request.url !== "/api" && request.url !== "/apis") {
        sendJson(response, 200, { ...configMapOf("a"), ...extra });
        return;
      }
      // A server answers in the first form of the list that it knows; of none of them it knows nothing.
      const isUnderstood = request.headers.accept?.includes(`v=${accepted};`) === true;
      const items = request.url === "/api" ? [group(extra)] : [];
      if (isUnderstood) sendJson(response, 200, { kind: "APIGroupDiscoveryList", items, ...extra });
      else sendJson(response, 200, { kind: "APIVersions", versions: ["v1"] });
    });

  test.each([
    { name: "1.27 to 1.29, which has discovery in v2beta1", accepted: "v2beta1", extra: {} },
    { name: "1.30 or later", accepted: "v2", extra: {} },
    { name: "the future, with fields that nobody knows yet", accepted: "v2", extra: { horizon: { a: [1] } } },
  ])("of $name is used as any other", async ({ accepted, extra }) => {
    await using api = await serving(accepted, extra);
    const cluster = connect(configOf(api.url), apiDeps);
    const found = await cluster.resource({ group: "", kind: "ConfigMap" }, signal);
    expect(found).toMatchObject({ plural: "configmaps", version: "v1", namespaced: true });
    expect(await cluster.get({ ...configMaps, name: "a" }, signal)).toMatchObject({ kind: "ConfigMap" });
    cluster.close();
  });

  test("of the future that has left this form of discovery behind is a clear error", async () => {
    await using api = await serving("v3");
    const cluster = connect(configOf(api.url), apiDeps);
    const error = await faultOf(cluster.get({ ...configMaps, name: "a" }, signal));
    expect(error).toMatchObject({ code: 406, reason: "NotAcceptable" });
    expect(error.message).toContain("does not tell its kinds in one answer");
    cluster.close();
  });

  test("that tells a kind of event that nobody knows ends the watch with an error", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response))
        response.end(`${JSON.stringify({ type: "MOVED", object: configMapOf("a") })}\n`);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const error = await faultOf(cluster.watch(configMaps, signal)[Symbol.asyncIterator]().next());
    expect(error.code).toBe(500);
    cluster.close();
  });

  test("that gives a reason of its own has it passed on", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(response, 418, { kind: "Status", code: 418, reason: "Teapot", message: "short and stout" });
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await faultOf(client.expect(read, signal))).toMatchObject({ code: 418, reason: "Teapot" });
    client.close();
  });
});

describe("an API server behind the API server that does not answer", () => {
  const metrics = (version: object) => ({ metadata: { name: "metrics.example.com" }, versions: [version] });
  const serving = (version: object) =>
    fakeApi((request, response) => {
      const items = request.url === "/apis" ? [metrics(version)] : [];
      sendJson(response, 200, { kind: "APIGroupDiscoveryList", items });
    });
  const query = { group: "metrics.example.com", kind: "Gauge" };

  test("leaves open whether its kinds are served: nobody may take their objects for gone", async () => {
    await using api = await serving({ version: "v1", resources: [], freshness: "Stale" });
    const cluster = connect(configOf(api.url), apiDeps);
    const error = await faultOf(cluster.resource(query, signal));
    expect(error).toMatchObject({ code: 503, reason: "ServiceUnavailable" });
    expect(error.message).toMatch(
      /^whether kind Gauge is served is not known: .* group metrics\.example\.com does not/,
    );
    await expect(cluster.resource({ ...query, group: "other.example.com" }, signal)).resolves.toBeUndefined();
    cluster.close();
  });

  test("is asked for the kinds that were known of it", async () => {
    const gauge = { resource: "gauges", scope: "Namespaced", verbs: ["list"], responseKind: { kind: "Gauge" } };
    await using api = await serving({ version: "v1", resources: [gauge], freshness: "Stale" });
    const cluster = connect(configOf(api.url), apiDeps);
    await expect(cluster.resource(query, signal)).resolves.toMatchObject({ plural: "gauges" });
    cluster.close();
  });
});
