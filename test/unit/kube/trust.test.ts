import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { describe, expect, test } from "vitest";
import { Secret } from "../../../lib/core/secret.ts";
import { apiClient } from "../../../lib/kube/api-client.ts";
import { faultOf } from "../../contract/cluster/fault-of.ts";
import { pem } from "../../doubles/pem.ts";
import { apiDeps, configOf, type FakeApi, fakeApi, readNodes, sendJson } from "./fake-api.ts";
import { outcomeOf } from "./outcome-of.ts";

const { signal } = new AbortController();

describe("credentials of requests", () => {
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
    expect(JSON.parse((await client.send(readNodes, signal)).text)).toEqual({ authorization });
    client.close();
  });

  test("with impersonation of a user and all groups", async () => {
    await using api = await echoing();
    const client = asUser(api, { impersonate: { user: "jane", groups: ["dev", "ops"] } });
    expect(JSON.parse((await client.send(readNodes, signal)).text)).toEqual({ user: "jane", groups: ["dev", "ops"] });
    client.close();
  });

  test("by certificate, with TLS to a server that is trusted by its CA", async () => {
    const server = { cert: await pem("server.crt"), key: await pem("server.key") };
    const ca = await pem("client.crt");
    await using api = await fakeApi(
      (request, response) => {
        const { socket } = request;
        if (!(socket instanceof TLSSocket)) throw new TypeError("a request to a TLS server comes by a TLSSocket");
        sendJson(response, 200, { name: socket.getPeerCertificate().subject.CN });
      },
      { ...server, ca, requestCert: true },
    );
    const config = configOf(api.url, { tls: { ca: server.cert, serverName: undefined, insecure: false } });
    const certificate = { cert: ca, key: new Secret(await pem("client.key")) };
    const client = apiClient({ ...config, user: { ...config.user, certificate } }, apiDeps);
    expect(JSON.parse((await client.send(readNodes, signal)).text)).toEqual({ name: "jane" });
    client.close();
  });
});

describe("TLS", () => {
  const secure = async () =>
    await fakeApi(
      (_, response) => {
        sendJson(response, 200, {});
      },
      { cert: await pem("server.crt"), key: await pem("server.key") },
    );

  test("to an untrusted server is refused, with how to fix it", async () => {
    await using api = await secure();
    const error = await faultOf(apiClient(configOf(api.url), apiDeps).send(readNodes, signal));
    expect(error).toMatchObject({ code: 0, reason: "Unreachable" });
    expect(error.message).toContain(
      "certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); set certificate-authority",
    );
  });

  test.each([
    { name: "its own name", serverName: "api.sluice.test", outcome: 200 },
    { name: "another name", serverName: "other.sluice.test", outcome: "Unreachable" },
  ])("with the tls-server-name of $name ends with $outcome", async ({ serverName, outcome }) => {
    await using api = await secure();
    const config = configOf(api.url, { tls: { ca: await pem("server.crt"), serverName, insecure: false } });
    const client = apiClient(config, apiDeps);
    expect(await outcomeOf(client.send(readNodes, signal))).toBe(outcome);
    client.close();
  });

  test("is not verified if the kubeconfig says so", async () => {
    await using api = await secure();
    const client = apiClient(
      configOf(api.url, { tls: { ca: undefined, serverName: undefined, insecure: true } }),
      apiDeps,
    );
    expect((await client.send(readNodes, signal)).status).toBe(200);
    client.close();
  });
});
