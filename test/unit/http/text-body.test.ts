import { createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { deadlineMs } from "../../deadline.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

const never = new AbortController().signal;

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** A server that hands over each request with its connection, and a client of it. */
async function serve(onRequest: (socket: Socket, request: string) => void) {
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    // A broken connection is no fault of the test.
    socket.on("error", () => undefined).on("data", (request) => onRequest(socket, request.toString("latin1")));
  });
  const url = `http://127.0.0.1:${await portOnLoopback(server)}/`;
  const http = httpClient({ network: homeNetwork });
  opened.defer(() => {
    http.close();
    for (const socket of connections) socket.destroy();
    server.close();
  });
  return { url, http };
}

test("a header that is not ASCII arrives as it is beside a body of text", async () => {
  const arrived: string[] = [];
  const { http, url } = await serve((socket, request) => {
    arrived.push(request);
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  for (const body of ["plain", "größer"]) {
    const headers = { "x-team": "Größe" };
    await http.send({ method: "POST", url, headers, body, timeoutMs: deadlineMs, maxBytes: 1_000 }, never);
  }
  expect(arrived.map((request) => /x-team: (.*)\r\n/.exec(request)?.[1])).toEqual(["Größe", "Größe"]);
  const bodies = arrived.map((request) => request.slice(request.indexOf("\r\n\r\n") + 4));
  expect(bodies.map((body) => Buffer.from(body, "latin1").toString())).toEqual(["plain", "größer"]);
});
