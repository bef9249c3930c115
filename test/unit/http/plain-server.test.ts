import { createServer as createHttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { expect, test } from "vitest";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { untilDeadline } from "../../deadline.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

/** What a request by HTTPS says of a server, without the request. */
async function faultOf(server: Server): Promise<string> {
  const url = `https://127.0.0.1:${await portOnLoopback(server)}/x`;
  const http = httpClient({ network: homeNetwork });
  try {
    const request = { method: "GET", url, timeoutMs: 30_000, maxBytes: 1_000 } as const;
    const told = await http.send(request, untilDeadline()).then(() => "", String);
    return told.replace(`HttpError: GET ${url}: `, "");
  } finally {
    http.close();
    server.close();
  }
}

/** Answers the first bytes of a client, and ends the connection. */
function answering(bytes: string): Server {
  return createServer((socket: Socket) => {
    // The client may have closed the connection.
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.from(bytes, "latin1")));
  });
}

test("a server that does not speak TLS is reported in Go's words, which are the same each time", async () => {
  const fault = await faultOf(createHttpServer((_request, response) => void response.end()));
  expect(fault).toBe("http: server gave HTTP response to HTTPS client");
});

test.each([
  ["an alert", "\x15\x03\x03\x00\x02\x02\x28", "remote error: tls: handshake failure"],
  ["an alert that Go does not know", "\x15\x03\x03\x00\x02\x02\xc8", "remote error: tls: alert(200)"],
  ["a greeting that is cut off", "\x16\x03\x03\x00\x06\x02\x00\x00\x02\x03\x03", "tls: length mismatch"],
])("a server that answers a handshake with %s is reported in Go's words", async (_, bytes, words) => {
  expect(await faultOf(answering(bytes))).toBe(words);
});
