import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refuseForeignRequest } from "../../../../local/loopback/refuse-foreign-request.ts";
import { startRegistry } from "../../../../local/registry/start-registry.ts";
import { startEmbeddedCluster } from "../../../../local/start-embedded-cluster.ts";
import { startReceiver } from "../../../../local/start-receiver.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

const names = ["host.docker.internal", "registry.test:5000"];

describe("a request of the user's own tools", () => {
  test.each<IncomingHttpHeaders>([
    { host: "127.0.0.1:5000" },
    { host: "localhost:5000" },
    { host: "LOCALHOST:5000" },
    { host: "[::1]:5000" },
    { host: "localhost" },
    { host: "localhost:6000" },
    { host: "host.docker.internal:5000" },
    { host: "host.docker.internal:7" },
    { host: "registry.test:5000" },
    { host: "localhost:5000", origin: "http://localhost:5000" },
    { host: "localhost", origin: "http://localhost" },
    { host: "host.docker.internal:5000", origin: "http://host.docker.internal:5000" },
  ])("is allowed: %j", (headers) => {
    expect(refuseForeignRequest(headers, names)).toBeUndefined();
  });
});

describe("a request that a web page may have caused", () => {
  test.each<IncomingHttpHeaders>([
    {},
    { host: "" },
    { host: "evil.example" },
    { host: "evil.example:5000" },
    { host: "localhost.evil.example:5000" },
    { host: "127.0.0.1.evil.example:5000" },
    { host: "x.localhost:5000" },
    { host: "registry.test:5001" },
    { host: "user@localhost:5000" },
    { host: "evil.example/@localhost:5000" },
    { host: "evil.example\\@localhost:5000" },
    { host: "localhost:99999" },
    { host: "127.0.0.2:5000" },
    { host: "[::ffff:127.0.0.1]:5000" },
  ])("is refused for its Host: %j", (headers) => {
    expect(refuseForeignRequest(headers, names)).toBe(
      `this server of sluice local answers to 127.0.0.1, localhost, [::1], host.docker.internal, registry.test:5000, and not to the Host ${JSON.stringify(headers.host ?? "")}: start sluice local with --host-name NAME for another name`,
    );
  });

  test.each([
    "null",
    "http://evil.example",
    "http://localhost:3000",
    "http://127.0.0.1:5000",
    "https://localhost",
    "",
    "x",
    "http://localhost:5000/",
    "http://user@localhost:5000",
  ])("is refused for its Origin: %j", (origin) => {
    const told = refuseForeignRequest({ host: "localhost:5000", origin }, names);
    expect(told).toContain(`, and not to pages of the Origin ${JSON.stringify(origin)}`);
  });

  test("is answered with only the beginning of a long Host header", () => {
    expect(refuseForeignRequest({ host: "a".repeat(10_000) }, [])?.length).toBeLessThan(400);
  });
});

describe("the check refuses requests of web pages and accepts those of tools:", () => {
  let opened: AsyncDisposableStack;
  const servers = new Map<string, { readonly port: number; readonly path: string; readonly usual: number }>();
  beforeAll(async () => {
    opened = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "sluice-foreign-"));
    opened.defer(() => rm(folder, { recursive: true }));
    const registry = await startRegistry({
      folder: join(folder, "registry"),
      port: 0,
      log: silentLog,
      names,
      onPush: () => {},
    });
    opened.defer(() => registry.close());
    const kubernetes = await startEmbeddedCluster({ stateFolder: folder, port: 0, names, log: silentLog });
    opened.defer(() => kubernetes.close());
    const receiver = await startReceiver({
      port: 0,
      names,
      log: silentLog,
      receive: async () => new Response(null, { status: 404 }),
    });
    opened.defer(() => receiver.close());
    const portOf = (address: string): number => Number(address.replace(/^.*:/, ""));
    servers.set("the registry", { port: portOf(registry.address), path: "/v2/", usual: 200 });
    const token = kubernetes.token;
    servers.set("the Kubernetes API", {
      port: kubernetes.port,
      path: `/access/${token}/api/v1/namespaces`,
      usual: 200,
    });
    servers.set("the receiver", { port: portOf(receiver.url), path: "/hook/abc", usual: 404 });
  });
  afterAll(() => opened.disposeAsync());

  async function ask(server: string, method: string, headers: Readonly<Record<string, string>>) {
    const { port, path, usual } = servers.get(server) ?? { port: 0, path: "", usual: 0 };
    const sent = request({ host: "127.0.0.1", port, path, method, headers: { host: `localhost:${port}`, ...headers } });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.on("response", resolve).on("error", reject);
    });
    sent.end(method === "POST" ? '{"kind":"Namespace"}' : undefined);
    const response = await answered;
    const { statusCode: status } = response;
    return { status: status === usual ? "as usual" : status, body: await text(response) };
  }

  test.each(["the registry", "the Kubernetes API", "the receiver"])("%s", async (server) => {
    const { port = 0 } = servers.get(server) ?? {};
    const foreign = [
      { host: `evil.example:${port}` },
      { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
      { origin: "http://evil.example" },
      { origin: "null" },
    ];
    for (const headers of foreign) {
      for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
        const { status, body } = await ask(server, method, headers);
        expect([method, status]).toEqual([method, 403]);
        expect(body).toContain(
          "this server of sluice local answers to 127.0.0.1, localhost, [::1], host.docker.internal",
        );
      }
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "host.docker.internal:5000"]) {
      expect(await ask(server, "GET", { host })).toMatchObject({ status: "as usual" });
      expect(await ask(server, "GET", { host, origin: `http://${host}` })).toMatchObject({ status: "as usual" });
    }
  });

  test("in the format that each client reads", async () => {
    const headers = { host: "evil.example" };
    expect(JSON.parse((await ask("the registry", "GET", headers)).body)).toMatchObject({
      errors: [{ code: "DENIED", message: expect.stringContaining("answers to") }],
    });
    expect(JSON.parse((await ask("the Kubernetes API", "GET", headers)).body)).toMatchObject({
      kind: "Status",
      code: 403,
      reason: "Forbidden",
      message: expect.stringContaining("answers to"),
    });
  });
});
