import { createServer } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { homeNetwork, networkPolicy } from "../../../lib/core/network/network-policy.ts";
import type { HttpRequest } from "../../../lib/core/ports/http.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { deadlineMs } from "../../deadline.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { socksProxy } from "../../doubles/socks-proxy.ts";
import { tlsFront } from "../../doubles/tls-front.ts";
import { tunnelProxy } from "../../doubles/tunnel-proxy.ts";

const http = httpClient({ network: homeNetwork });
const never = new AbortController().signal;
const bounds = { method: "GET", timeoutMs: deadlineMs, maxBytes: 1_000 } as const;
const login = { username: "jane", password: new Secret("hunter2") };
const basic = `Basic ${Buffer.from("jane:hunter2").toString("base64")}`;

/** A server, and a proxy of HTTP as it gets what it takes itself: it says what it was asked. */
const server = createServer((request, response) => {
  const { authorization = "", "proxy-authorization": proxy = "" } = request.headers;
  response.end([request.method, request.url, request.headers.host, authorization, proxy].join(" "));
});
let port: number;
beforeAll(async () => {
  port = await portOnLoopback(server);
});
afterAll(() => {
  http.close();
  server.close();
});

async function ask(request: Pick<HttpRequest, "headers" | "proxy" | "tls" | "url">): Promise<string> {
  return Buffer.from((await http.send({ ...bounds, ...request }, never)).body).toString();
}

test("an HTTP proxy gets a plain HTTP request itself, with the full URL", async () => {
  const proxy = { url: new URL(`http://127.0.0.1:${port}`), ...login };
  const url = "http://git.example.com:8080/app.git/info/refs?service=git-upload-pack";
  const said = await ask({ url, proxy, headers: { authorization: "Basic own" } });
  expect(said).toBe(`GET ${url} git.example.com:8080 Basic own ${basic}`);
});

test.each(["http:", "https:"])("a proxy that never answers ends a request to %s with its timeout", async (scheme) => {
  const opened: Socket[] = [];
  const silent = createTcpServer((socket) => opened.push(socket.resume()));
  try {
    const proxy = { url: new URL(`http://127.0.0.1:${await portOnLoopback(silent)}`), ...login };
    const request = { ...bounds, url: `${scheme}//registry.example.com/v2/`, proxy, timeoutMs: 1_000 };
    await expect(http.send(request, never)).rejects.toMatchObject({
      reason: "timeout",
      message: expect.stringMatching(/^GET https?:\/\/registry.example.com\/v2\/: no answer within 1000 ms$/),
    });
    expect(opened).toHaveLength(1);
  } finally {
    for (const socket of opened) socket.destroy();
    silent.close();
  }
});

test.each(["http://git.example.com/new", "http://mirror.example.com/new"])(
  "a redirect to %s goes through the proxy too, with the login of the proxy",
  async (location) => {
    const seen: unknown[] = [];
    const redirecting = createServer((request, response) => {
      seen.push([request.url, request.headers.authorization, request.headers["proxy-authorization"]]);
      if (request.url === location) response.end("end");
      else response.writeHead(302, { location }).end();
    });
    const proxy = { url: new URL(`http://127.0.0.1:${await portOnLoopback(redirecting)}`), ...login };
    const url = "http://git.example.com/old";
    const request = { url, proxy, maxRedirects: 1, headers: { authorization: "Basic own" } };
    const { url: answered } = await http.send({ ...bounds, ...request }, never);
    redirecting.close();
    expect(answered).toBe(location);
    const isOwn = new URL(location).host === new URL(url).host;
    expect(seen).toEqual([
      [url, "Basic own", basic],
      [location, isOwn ? "Basic own" : undefined, basic],
    ]);
  },
);

test("an HTTPS request goes through a tunnel, and the proxy's login is sent only to the proxy", async () => {
  await using front = await tlsFront(`127.0.0.1:${port}`);
  using tunnel = await tunnelProxy();
  const proxy = { url: new URL(`http://127.0.0.1:${tunnel.port}`), ...login };
  const said = await ask({ url: `https://${front.address}/a`, proxy, tls: { ca: await pem("server.crt") } });
  expect(said).toBe(`GET /a ${front.address}  `);
  expect(tunnel.asked).toEqual([{ target: front.address, authorization: basic }]);
});

test("the certificate of the server behind a tunnel is checked for the requested name", async () => {
  await using front = await tlsFront(`127.0.0.1:${port}`);
  using tunnel = await tunnelProxy();
  const proxy = { url: new URL(`http://127.0.0.1:${tunnel.port}`) };
  await expect(ask({ url: `https://${front.address}/a`, proxy })).rejects.toMatchObject({ reason: "tls" });
  const other = `https://git.example.com:${front.address.split(":")[1] ?? ""}/a`;
  await expect(ask({ url: other, proxy, tls: { ca: await pem("server.crt") } })).rejects.toMatchObject({
    reason: "tls",
    message: expect.stringContaining(", not git.example.com"),
  });
});

test("a SOCKS proxy tunnels plain HTTP too", async () => {
  using socks = await socksProxy();
  const proxy = { url: new URL(`socks5://127.0.0.1:${socks.port}`) };
  expect(await ask({ url: `http://git.example.com:${port}/a`, proxy })).toBe(`GET /a git.example.com:${port}  `);
  expect(socks.asked).toEqual([`git.example.com:${port}`]);
});

test("a proxy that does not connect fails the request, without the proxy's text", async () => {
  using tunnel = await tunnelProxy("407 hunter2");
  const proxy = { url: new URL(`http://127.0.0.1:${tunnel.port}`), ...login };
  await expect(ask({ url: "https://git.example.com/a", proxy })).rejects.toMatchObject({
    reason: "unreachable",
    message: "GET https://git.example.com/a: proxy: CONNECT answered with status 407",
  });
});

test("the address of a proxy is checked", async () => {
  const guarded = httpClient({ network: networkPolicy({ allow: [] }, "functions") });
  const proxy = { url: new URL(`http://127.0.0.1:${port}`) };
  for (const url of ["http://git.example.com/a", "https://git.example.com/a"]) {
    await expect(guarded.send({ ...bounds, url, proxy }, never)).rejects.toMatchObject({
      reason: "refused",
      message: `GET ${url}: 127.0.0.1 is a loopback address: Sluice never connects there`,
    });
  }
});
