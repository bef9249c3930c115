import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { TlsTrust } from "../../../lib/core/ports/http.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { deadlineMs } from "../../deadline.ts";
import { pem } from "../../doubles/pem.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

const never = new AbortController().signal;
const ca = await pem("server.crt");
/** As many other trusts, each for its own, as make room for no more. */
const others = Array.from({ length: 40 }, (_, index): TlsTrust => ({ ca: `${ca}${"\n".repeat(index + 1)}` }));

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** A server over TLS that counts its connections, and a client of it. */
async function serve(answer: RequestListener) {
  const server = createServer({ cert: ca, key: await pem("server.key") }, answer);
  let connections = 0;
  server.on("secureConnection", () => connections++);
  const url = `https://127.0.0.1:${await portOnLoopback(server)}/`;
  const http = httpClient({ network: homeNetwork });
  opened.defer(() => {
    http.close();
    server.closeAllConnections();
    server.close();
  });
  const request = (tls?: TlsTrust) => ({ method: "GET", url, tls, timeoutMs: deadlineMs, maxBytes: 1_000 }) as const;
  return { http, request, connections: () => connections };
}

test("an answer that is still being read is not cut off by requests with many other CAs", async () => {
  const rest = Promise.withResolvers<void>();
  let isFirst = true;
  const { http, request } = await serve((_, response) => {
    if (!isFirst) return void response.end("other");
    isFirst = false;
    response.write("begin");
    return void rest.promise.then(() => response.end(", end"));
  });
  using stream = await http.open(request({ ca }), never);
  for (const tls of others) await http.send(request(tls), never);
  rest.resolve();
  let text = "";
  for await (const chunk of stream.body) text += Buffer.from(chunk).toString();
  expect(text).toBe("begin, end");
});

test("connections for a CA that is used repeatedly are kept", async () => {
  const { http, request, connections } = await serve((_, response) => void response.end("ok"));
  for (const tls of others) {
    await http.send(request({ ca }), never);
    await http.send(request(tls), never);
  }
  expect(connections()).toBe(1 + others.length);
});

test("connections for the system's own CAs are always kept", async () => {
  const system = getCACertificates("default");
  opened.defer(() => setDefaultCACertificates(system));
  setDefaultCACertificates([ca]);
  const { http, request, connections } = await serve((_, response) => void response.end("ok"));
  await http.send(request(), never);
  for (const tls of others) await http.send(request(tls), never);
  await http.send(request(), never);
  await http.send(request({}), never);
  expect(connections()).toBe(1 + others.length);
});
