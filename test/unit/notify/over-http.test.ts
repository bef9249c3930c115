import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { pipeline, Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import { homeNetwork, type NetworkPolicy } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import type { ProviderSettings } from "../../../lib/notify/provider.ts";
import { generic } from "../../../lib/notify/providers/generic.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { recordedSteps } from "./recorded-deliveries.ts";
import { recordingParts, settingsOf } from "./recording-http.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

interface Arrived {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server of a test, and what arrived there. */
async function host(answer: RequestListener) {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url: path, headers } = request;
      arrived.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  closing.push(() => closeServer(server));
  return { arrived, address: `http://127.0.0.1:${await portOnLoopback(server)}` };
}

async function post(settings: Partial<ProviderSettings>, network: NetworkPolicy = homeNetwork): Promise<string> {
  const http = httpClient({ network });
  closing.push(async () => http.close());
  const [event] = recordedSteps("notify-generic").flatMap(({ step, events }) => (step === "odd" ? events : []));
  if (event === undefined) throw new Error("the recording has no such step");
  try {
    const provider = generic(settingsOf(settings), { ...recordingParts(), http, dial: http.dial });
    await provider.post(event, new AbortController().signal);
  } catch (error) {
    return messageOf(error);
  }
  return "";
}

describe("over HTTP, a notification", () => {
  const [recorded] = recordedSteps("notify-generic").flatMap(({ step, deliveries }) =>
    step === "odd" ? deliveries : [],
  );

  test("arrives byte by byte, with headers in UTF-8", async () => {
    const { address, arrived } = await host((_, response) => void response.end());
    expect(await post({ address: `${address}/generic`, headers: { "X-Team": "Größe" } })).toBe("");
    const [request] = arrived;
    expect(request).toMatchObject({ method: "POST", path: "/generic", body: recorded?.raw });
    expect(Buffer.from(String(request?.headers["x-team"]), "latin1").toString()).toBe("Größe");
    expect(request?.headers["content-length"]).toBe(String(Buffer.byteLength(recorded?.raw ?? "")));
  });

  test("follows 307 and 308", async () => {
    const { address, arrived } = await host(({ url }, response) => {
      if (url === "/c") response.end();
      else response.writeHead(url === "/a" ? 307 : 308, { location: url === "/a" ? "/b" : "/c" }).end();
    });
    expect(await post({ address: `${address}/a` })).toBe("");
    expect(arrived.map(({ method, path, body }) => [method, path, body === recorded?.raw])).toEqual([
      ["POST", "/a", true],
      ["POST", "/b", true],
      ["POST", "/c", true],
    ]);
  });

  test("is not repeated to an address that the network policy forbids", async () => {
    const forbidden = await host((_, response) => void response.end());
    const { address } = await host((_, response) => {
      response.writeHead(307, { location: forbidden.address }).end();
    });
    const port = Number(new URL(forbidden.address).port);
    const said = await post({ address: `${address}/a` }, (to) => (to.port === port ? "not there" : undefined));
    expect(said).toContain("postMessage failed: failed to execute request: ");
    expect(said).toContain("giving up after 1 attempt(s)");
    expect(said).toContain("not there");
    expect(forbidden.arrived).toEqual([]);
  });

  test("whose answer is 1 GiB long is cut off after 1 MiB, fails, and is not repeated", async () => {
    const chunk = Buffer.alloc(65_536, "x");
    const ended = Promise.withResolvers<number>();
    const { address, arrived } = await host((_, response) => {
      const { socket } = response;
      const gibibyte = Readable.from(Array.from({ length: 16_384 }, () => chunk));
      // An error means that the receiver of the answer has closed the connection.
      pipeline(gibibyte, response.writeHead(500), () => ended.resolve(socket?.bytesWritten ?? 0));
    });
    expect(await post({ address })).toContain("the answer is longer than 1048576 bytes");
    // What the buffers of both sockets hold was sent too.
    expect(await ended.promise).toBeLessThan(64 * 1_048_576);
    expect(arrived).toHaveLength(1);
  });

  test("is sent again if the receiver closes the connection in the middle of its answer", async () => {
    const { address, arrived } = await host((_, response) => {
      if (arrived.length > 1) return void response.end();
      response.writeHead(200, { "content-length": "10" });
      response.write("begin", () => response.destroy());
    });
    expect(await post({ address })).toBe("");
    expect(arrived.map(({ body }) => body === recorded?.raw)).toEqual([true, true]);
  });

  test("to a port without a listener fails with Go's text", async () => {
    const { address } = await host((_, response) => void response.end());
    await Promise.all(closing.splice(0).map((close) => close()));
    const { host: at } = new URL(address);
    expect(await post({ address: `${address}/hook` })).toBe(
      `postMessage failed: failed to execute request: POST ${address}/hook giving up after 5 attempt(s): Post "${address}/hook": dial tcp ${at}: connect: connection refused`,
    );
  });
});
