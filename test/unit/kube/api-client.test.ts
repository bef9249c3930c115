import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { type ApiRequest, apiClient, type SentRequest } from "../../../lib/kube/api-client.ts";
import { apiDeps, configOf, type FakeApi, fakeApi, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const read: ApiRequest = { verb: "get", method: "GET", path: "/api/v1/nodes", repeatable: true };
const tls = join(import.meta.dirname, "../../fixtures/tls");
const fixture = (name: string) => readFile(join(tls, name), "utf8");

async function faultOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ApiError) return error;
  throw new Error("expected an ApiError", { cause: error });
}

/** The status of the answer, or the reason why there is none. */
function outcomeOf(call: Promise<{ readonly status: number }>): Promise<number | string> {
  return call.then(
    ({ status }) => status,
    (error: unknown) => (error instanceof ApiError ? error.reason : String(error)),
  );
}

describe("requests to an API server", () => {
  test("share connections that are kept", async () => {
    const sockets = new Set<unknown>();
    await using api = await fakeApi((request, response) => {
      sockets.add(request.socket);
      sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    for (let index = 0; index < 5; index++) await client.send(read, signal);
    expect(sockets.size).toBe(1);
    client.close();
  });

  test("keep the path that the server's address has", async () => {
    await using api = await fakeApi((request, response) => {
      sendJson(response, 200, { url: request.url });
    });
    const client = apiClient(configOf(new URL("/k8s/clusters/c-1/", api.url)), apiDeps);
    const { text } = await client.send({ ...read, query: { labelSelector: "a in (b)", limit: undefined } }, signal);
    expect(JSON.parse(text)).toEqual({ url: "/k8s/clusters/c-1/api/v1/nodes?labelSelector=a+in+%28b%29" });
    client.close();
  });

  test("are not sent any more when getting the credentials has used up their time", async () => {
    let requests = 0;
    await using api = await fakeApi((_, response) => {
      requests++;
      sendJson(response, 200, {});
    });
    // Each look at the clock is 6 s after the one before, as a slow credential plug-in would make it.
    let now = 0;
    const clock = { ...apiDeps.clock, monotonic: () => (now += 6_000) };
    const client = apiClient(configOf(api.url), { ...apiDeps, clock, limitMs: 5_000 });
    expect(await faultOf(client.send(read, signal))).toMatchObject({ reason: "Unreachable" });
    expect(requests).toBe(0);
    client.close();
  });

  test("are counted by what they do", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(response, 200, {});
    });
    const sent: SentRequest[] = [];
    const client = apiClient(configOf(api.url), { ...apiDeps, observe: (request) => sent.push(request) });
    await client.send({ ...read, query: { dryRun: "All" } }, signal);
    expect(sent).toEqual([{ verb: "get", dryRun: true, path: "/api/v1/nodes", status: 200 }]);
    client.close();
  });

  test.each([
    { repeatable: true, requests: 3, outcome: 200 },
    { repeatable: false, requests: 2, outcome: "Unreachable" },
  ])("on a kept connection that the server has closed are sent again if repeatable is $repeatable", async (row) => {
    let requests = 0;
    await using api = await fakeApi((request, response) => {
      requests++;
      if (requests === 2) request.socket.resetAndDestroy();
      else sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    await client.send(read, signal);
    const second = client.send({ ...read, repeatable: row.repeatable }, signal);
    expect(await outcomeOf(second)).toBe(row.outcome);
    expect(requests).toBe(row.requests);
    client.close();
  });

  test.each([
    { name: "429 with a time", status: 429, headers: { "retry-after": "0" }, repeatable: false, requests: 2 },
    {
      name: "503 with a time, repeatable",
      status: 503,
      headers: { "retry-after": "0" },
      repeatable: true,
      requests: 2,
    },
    {
      name: "503 with a time, not repeatable",
      status: 503,
      headers: { "retry-after": "0" },
      repeatable: false,
      requests: 1,
    },
    { name: "500 without a time", status: 500, headers: {}, repeatable: true, requests: 1 },
  ])("answered $name are sent $requests times", async ({ status, headers, repeatable, requests }) => {
    let count = 0;
    await using api = await fakeApi((_, response) => {
      count++;
      if (count === 1) sendJson(response, status, {}, headers);
      else sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    const answer = await client.send({ ...read, repeatable }, signal);
    expect(answer.status).toBe(requests === 2 ? 200 : status);
    expect(count).toBe(requests);
    client.close();
  });

  test.each([
    { name: "repeatable", repeatable: true, requests: 3, outcome: 200 },
    { name: "not repeatable", repeatable: false, requests: 1, outcome: "Unreachable" },
  ])("whose connection breaks are sent $requests times where they are $name", async (row) => {
    let count = 0;
    await using api = await fakeApi((_, response) => {
      if (++count < 3) response.destroy();
      else sendJson(response, 200, {});
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await outcomeOf(client.send({ ...read, repeatable: row.repeatable }, signal))).toBe(row.outcome);
    expect(count).toBe(row.requests);
    client.close();
  });

  test("that are to wait longer than they may are given up at once, saying for how long", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(
        response,
        429,
        { kind: "Status", reason: "TooManyRequests", message: "slow down", code: 429 },
        { "retry-after": "60" },
      );
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await faultOf(client.expect(read, signal))).toMatchObject({
      code: 429,
      message: "slow down",
      retryAfterMs: 60_000,
    });
    client.close();
  });

  test("end when no answer comes in time", async () => {
    await using api = await fakeApi(() => {});
    const client = apiClient(configOf(api.url), { ...apiDeps, limitMs: 50 });
    const error = await faultOf(client.send(read, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toContain("no answer within 0.05s");
    client.close();
  });

  test("end in time when an answer begins and does not go on", async () => {
    await using api = await fakeApi((_, response) => {
      response.writeHead(200).write("{");
    });
    const client = apiClient(configOf(api.url), { ...apiDeps, limitMs: 50 });
    expect((await faultOf(client.send(read, signal))).message).toContain("no answer within 0.05s");
    client.close();
  });

  test("end with the reason of their signal", async () => {
    const stop = new AbortController();
    const reason = new Error("lease lost");
    await using api = await fakeApi(() => {
      stop.abort(reason);
    });
    const client = apiClient(configOf(api.url), apiDeps);
    await expect(client.send(read, stop.signal)).rejects.toBe(reason);
    client.close();
  });

  test("to where nothing listens say so, naming address and context", async () => {
    const api = await fakeApi(() => {});
    await api[Symbol.asyncDispose]();
    const client = apiClient(configOf(api.url), apiDeps);
    const error = await faultOf(client.send(read, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toBe(
      `the cluster at ${api.url.origin} cannot be reached: connect ECONNREFUSED ${api.url.host}; check the server of context test and that it runs`,
    );
  });

  test("tell an answer of something before the server by its code and text", async () => {
    await using api = await fakeApi((_, response) => {
      response.writeHead(403).end("<html>denied by proxy</html>");
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await faultOf(client.expect(read, signal))).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: "<html>denied by proxy</html>",
    });
    client.close();
  });
});

describe("proving who we are", () => {
  const echo = (request: IncomingMessage) => ({
    authorization: request.headers.authorization,
    user: request.headers["impersonate-user"],
    groups: request.headersDistinct["impersonate-group"],
  });
  const echoing = () =>
    fakeApi((request, response) => {
      sendJson(response, 200, echo(request));
    });
  const asUser = (api: FakeApi, user: object) => {
    const config = configOf(api.url);
    return apiClient({ ...config, user: { ...config.user, ...user } }, apiDeps);
  };

  test.each([
    { kind: "token", source: { kind: "token", token: new Secret("t") }, authorization: "Bearer t" },
    {
      kind: "user name and password",
      source: { kind: "basic", username: "u", password: new Secret("p") },
      authorization: "Basic dTpw",
    },
  ])("by $kind", async ({ source, authorization }) => {
    await using api = await echoing();
    const client = asUser(api, { token: source });
    expect(JSON.parse((await client.send(read, signal)).text)).toEqual({ authorization });
    client.close();
  });

  test("on behalf of somebody else, with each group of theirs", async () => {
    await using api = await echoing();
    const client = asUser(api, { impersonate: { user: "jane", groups: ["dev", "ops"] } });
    expect(JSON.parse((await client.send(read, signal)).text)).toEqual({ user: "jane", groups: ["dev", "ops"] });
    client.close();
  });

  test("by certificate, on TLS to a server that is trusted by its authority", async () => {
    const server = { cert: await fixture("server.crt"), key: await fixture("server.key") };
    const ca = await fixture("client.crt");
    await using api = await fakeApi(
      (request, response) => {
        // @ts-expect-error: the socket of a TLS server's request is a TLSSocket, which its type does not say
        const socket: TLSSocket = request.socket;
        sendJson(response, 200, { name: socket.getPeerCertificate().subject.CN });
      },
      { ...server, ca, requestCert: true },
    );
    const config = configOf(api.url, { tls: { ca: server.cert, serverName: undefined, insecure: false } });
    const certificate = { cert: ca, key: new Secret(await fixture("client.key")) };
    const client = apiClient({ ...config, user: { ...config.user, certificate } }, apiDeps);
    expect(JSON.parse((await client.send(read, signal)).text)).toEqual({ name: "jane" });
    client.close();
  });
});

describe("TLS", () => {
  const secure = async () =>
    await fakeApi(
      (_, response) => {
        sendJson(response, 200, {});
      },
      { cert: await fixture("server.crt"), key: await fixture("server.key") },
    );

  test("to a server that nothing vouches for is refused, saying how to mend it", async () => {
    await using api = await secure();
    const error = await faultOf(apiClient(configOf(api.url), apiDeps).send(read, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toContain(
      "certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); set certificate-authority",
    );
  });

  test.each([
    { name: "its own name", serverName: "api.sluice.test", outcome: 200 },
    { name: "another name", serverName: "other.sluice.test", outcome: "Unreachable" },
  ])("by tls-server-name of $name ends with $outcome", async ({ serverName, outcome }) => {
    await using api = await secure();
    const config = configOf(api.url, { tls: { ca: await fixture("server.crt"), serverName, insecure: false } });
    const client = apiClient(config, apiDeps);
    expect(await outcomeOf(client.send(read, signal))).toBe(outcome);
    client.close();
  });

  test("is not verified where the kubeconfig says so", async () => {
    await using api = await secure();
    const client = apiClient(
      configOf(api.url, { tls: { ca: undefined, serverName: undefined, insecure: true } }),
      apiDeps,
    );
    expect((await client.send(read, signal)).status).toBe(200);
    client.close();
  });

  test("goes through an HTTP proxy where one is named", async () => {
    await using api = await secure();
    const tunnels: string[] = [];
    const proxy = createServer().on("connect", (request, socket, head) => {
      tunnels.push(request.url ?? "");
      const upstream = connectTcp(Number(api.url.port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [socket, upstream]) {
        end.on("error", () => {
          socket.destroy();
          upstream.destroy();
        });
      }
    });
    const listening = Promise.withResolvers<void>();
    proxy.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    const address = proxy.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const ca = await fixture("server.crt");
    const config = configOf(api.url, {
      proxy: new URL(`http://127.0.0.1:${port}`),
      tls: { ca, serverName: undefined, insecure: false },
    });
    const client = apiClient(config, apiDeps);
    expect((await client.send(read, signal)).status).toBe(200);
    expect(tunnels).toEqual([api.url.host]);
    client.close();
    proxy.close();
  });
});
