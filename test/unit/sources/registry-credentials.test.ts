import type { IncomingMessage, RequestListener } from "node:http";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { homeNetwork, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import { type Http, HttpError } from "../../../lib/core/ports/http.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { Resolve } from "../../../lib/http/guarded-lookup.ts";
import { type HttpClientOptions, httpClient } from "../../../lib/http/http-client.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import type { RegistryAccess } from "../../../lib/sources/oci/authorize.ts";
import { pushArtifact } from "../../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

const forever = new AbortController().signal;
const credentials = { username: "robot", password: new Secret("hunter2") };
const basic = `Basic ${btoa("robot:hunter2")}`;
const content = Buffer.from("content");
const digest = digestOf(content);

/** Who got which credentials: `name METHOD path -> authorization, client certificate`, as the servers saw it on the wire. */
let seen: string[];
let opened: AsyncDisposableStack;
beforeEach(() => {
  seen = [];
  opened = new AsyncDisposableStack();
});
afterEach(() => opened.disposeAsync());

function note(name: string, { method = "", url = "", headers, socket }: IncomingMessage): void {
  const isKnown = socket instanceof TLSSocket && inspect(socket.getPeerCertificate().subject).includes("jane");
  const { authorization = "-" } = headers;
  seen.push(`${name} ${method} ${url.replace(/\?.*$/, "")} ${authorization}${isKnown ? " jane" : ""}`);
}

async function serve(name: string, answer: RequestListener): Promise<number> {
  const server = createServer((request, response) => {
    note(name, request);
    request.resume();
    answer(request, response);
  });
  opened.defer(() => server.closeAllConnections());
  return portOnLoopback(server);
}

async function serveSecurely(name: string, answer: RequestListener): Promise<number> {
  const [cert, key] = await Promise.all([pem("server.crt"), pem("server.key")]);
  const options = { cert, key, requestCert: true, rejectUnauthorized: false };
  const server = createSecureServer(options, (request, response) => {
    note(name, request);
    request.resume();
    answer(request, response);
  });
  opened.defer(() => server.closeAllConnections());
  return portOnLoopback(server);
}

function client(
  access: Partial<RegistryAccess> & { host: string },
  options: HttpClientOptions = { network: homeNetwork },
) {
  const http = httpClient(options);
  opened.defer(() => http.close());
  return registryClients(http, systemClock)({ insecure: false, credentials, ...access });
}

/** A registry that wants a login, and then answers so. */
function behindLogin(answer: RequestListener): RequestListener {
  return (request, response) => {
    if (request.headers.authorization === undefined) {
      response.writeHead(401, { "www-authenticate": "Basic" }).end();
    } else answer(request, response);
  };
}

function redirect(location: string, status = 307): RequestListener {
  return (_, response) => response.writeHead(status, { location }).end();
}

const ok: RequestListener = (_, response) => response.writeHead(200).end(content);

/** What other servers than the registry got. */
function elsewhere(): readonly string[] {
  return seen.filter((line) => !line.startsWith("registry "));
}

describe("credentials are sent only to their registry", () => {
  test("if it redirects a blob to another host", async () => {
    const storage = await serve("storage", ok);
    const port = await serve("registry", behindLogin(redirect(`http://127.0.0.1:${storage}/signed`)));
    await client({ host: `127.0.0.1:${port}` }).blob("app", digest, 100, forever);
    expect(seen).toContain(`registry GET /v2/app/blobs/${digest} ${basic}`);
    expect(elsewhere()).toEqual(["storage GET /signed -"]);
  });

  test("if the redirect's host asks for a login", async () => {
    const realm = await serve("realm", (_, response) => response.end('{"token":"t"}'));
    const challenge = `Bearer realm="http://127.0.0.1:${realm}/token"`;
    for (const asked of [challenge, "Basic"]) {
      seen = [];
      const storage = await serve("storage", (_, response) => {
        response.writeHead(401, { "www-authenticate": asked }).end();
      });
      const port = await serve("registry", (request, response) => {
        if (request.url === "/v2/") response.end("{}");
        else redirect(`http://127.0.0.1:${storage}/blob`)(request, response);
      });
      const work = client({ host: `127.0.0.1:${port}` }).blob("app", digest, 100, forever);
      await expect(work).rejects.toThrow("unexpected status code 401 Unauthorized");
      expect(elsewhere()).toEqual(["storage GET /blob -"]);
      expect(seen.filter((line) => line.includes(basic))).toEqual([]);
    }
  });

  test("if the location of an upload or the next page of a list is on another host", async () => {
    const storage = await serve("storage", (request, response) => {
      if (request.method === "PUT") response.writeHead(201).end();
      else response.end('{"tags":["b"]}');
    });
    const port = await serve(
      "registry",
      behindLogin((request, response) => {
        const { method, url = "" } = request;
        if (method === "HEAD") response.writeHead(404).end();
        else if (method === "POST") redirect(`http://127.0.0.1:${storage}/upload`, 202)(request, response);
        else if (method === "PUT") response.writeHead(201).end();
        else if (url.includes("/tags/")) {
          response.writeHead(200, { link: `<http://127.0.0.1:${storage}/tags>; rel="next"` }).end('{"tags":["a"]}');
        } else response.end("{}");
      }),
    );
    const host = `127.0.0.1:${port}`;
    const artifact = { url: `oci://${host}/app:v1`, path: "a.yaml", content, source: "s", revision: "r" };
    await pushArtifact(artifact, () => client({ host }), forever);
    expect(await client({ host }).tags("app", forever)).toEqual(["a", "b"]);
    expect(seen).toContain(`registry POST /v2/app/blobs/uploads/ ${basic}`);
    expect(elsewhere()).toEqual(["storage PUT /upload -", "storage PUT /upload -", "storage GET /tags -"]);
  });

  test.each([
    ["the same name without TLS", (_: number, plain: number) => `http://127.0.0.1:${plain}/upload`],
    ["its own host without TLS", (secure: number) => `http://127.0.0.1:${secure}/upload`],
    ["another protocol", () => "ftp://127.0.0.1/upload"],
    ["an invalid URL", () => "http://[/"],
  ])("if a registry with TLS sends an upload to %s: nothing is sent there", async (_, place) => {
    const plain = await serve("plain", (_request, response) => response.writeHead(201).end());
    let location = "";
    const secure = await serveSecurely(
      "registry",
      behindLogin((request, response) => {
        if (request.method === "HEAD") response.writeHead(404).end();
        else redirect(location, 202)(request, response);
      }),
    );
    location = place(secure, plain);
    const tls = { ca: await pem("server.crt") };
    const error: unknown = await client({ host: `127.0.0.1:${secure}`, tls })
      .pushBlob("app", content, forever)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({
      reason: "redirect",
      message: expect.stringContaining("an address that is not followed"),
    });
    expect(elsewhere()).toEqual([]);
  });

  test("a client certificate is not sent to another host of an upload or of a token service", async () => {
    const storage = await serveSecurely("storage", (_, response) => response.writeHead(201).end());
    const realm = await serveSecurely("realm", (_, response) => response.end('{"token":"t1"}'));
    const port = await serveSecurely("registry", (request, response) => {
      const { method, headers } = request;
      const challenge = `Bearer realm="https://127.0.0.1:${realm}/token"`;
      if (headers.authorization !== "Bearer t1") response.writeHead(401, { "www-authenticate": challenge }).end();
      else if (method === "HEAD") response.writeHead(404).end();
      else redirect(`https://127.0.0.1:${storage}/upload`, 202)(request, response);
    });
    const [ca = "", cert = "", key = ""] = await Promise.all(["server.crt", "client.crt", "client.key"].map(pem));
    await client({ host: `127.0.0.1:${port}`, tls: { ca, cert, key } }).pushBlob("app", content, forever);
    expect(seen).toContain("registry POST /v2/app/blobs/uploads/ Bearer t1 jane");
    // The token is the registry's to hand out: it is asked for with the password, at the place that the registry names.
    expect(elsewhere()).toEqual([`realm GET /token ${basic}`, "storage PUT /upload -"]);
  });
});

test("a registry with an untrusted certificate is not called over plain HTTP, even if that is allowed", async () => {
  const asked: string[] = [];
  const http: Http = {
    async send({ url }) {
      asked.push(url);
      if (url.startsWith("https:")) throw new HttpError("tls", "the certificate is not trusted");
      return { status: 200, headers: {}, body: content, url };
    },
  };
  const registry = registryClients(http, systemClock)({ host: "registry.test", insecure: true, credentials });
  const error: unknown = await registry.blob("app", digest, 100, forever).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: "tls" });
  expect(asked).toEqual(["https://registry.test/v2/"]);
});

describe("a token service that the installation does not allow", () => {
  /** All names are this machine, whose addresses are allowed as a range: what is judged is the host. */
  const resolve: Resolve = (_host, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]);
  const network = (...hosts: readonly string[]) =>
    networkPolicy({ allow: ["127.0.0.0/8", ...hosts], unlisted: "public" }, "home");

  async function registryWithRealm(realmHost: string): Promise<string> {
    const realm = await serve("realm", (_, response) => response.end('{"token":"t1"}'));
    const port = await serve("registry", (request, response) => {
      const challenge = `Bearer realm="http://${realmHost}:${realm}/token"`;
      if (request.headers.authorization === "Bearer t1") {
        response.writeHead(200, { "docker-content-digest": digest }).end();
      } else response.writeHead(401, { "www-authenticate": challenge }).end();
    });
    return `registry.test:${port}`;
  }

  test("is not called and gets no password", async () => {
    const host = await registryWithRealm("evil.test");
    const work = client({ host, insecure: true }, { network: network(), resolve }).digestOfTag("app", "v1", forever);
    await expect(work).rejects.toThrow(
      `registry ${host} asks to log in at another host, 'evil.test': the installation allows it with network.allow`,
    );
    expect(elsewhere()).toEqual([]);
    expect(seen.filter((line) => line.includes("Basic"))).toEqual([]);
  });

  test.each([
    ["the registry's own host", "registry.test", []],
    ["a host that is listed", "token.test", ["*.test"]],
  ])("does not mean %s, which is called", async (_, realmHost, hosts) => {
    const host = await registryWithRealm(realmHost);
    const access = { host, insecure: true };
    const options = { network: network(...hosts), resolve };
    expect(await client(access, options).digestOfTag("app", "v1", forever)).toBe(digest);
    expect(elsewhere()).toEqual([`realm GET /token ${basic}`]);
  });
});
