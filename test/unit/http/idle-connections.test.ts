import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
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

/** An answer with these headers. */
function answerOf(body: string, ...headers: readonly string[]): string {
  return [`HTTP/1.1 200 OK`, `Content-Length: ${body.length}`, ...headers, "", body].join("\r\n");
}

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
  const get = async () => {
    const request = { method: "GET", url, timeoutMs: deadlineMs, maxBytes: 1_000 } as const;
    return Buffer.from((await http.send(request, never)).body).toString();
  };
  return { url, http, get, connections };
}

test("requests one after the other use one connection", async () => {
  const { get, connections } = await serve((socket) => void socket.write(answerOf("ok")));
  expect([await get(), await get(), await get()]).toEqual(["ok", "ok", "ok"]);
  expect(connections.length).toBe(1);
});

test("one host gets 32 connections at most, and further requests wait for one of them", async () => {
  let begun = 0;
  const { get, connections } = await serve((socket) => {
    begun += 1;
    if (begun < 32) return;
    for (const each of begun === 32 ? connections : [socket]) each.write(answerOf("ok"));
  });
  const answers = await Promise.all(Array.from({ length: 40 }, get));
  expect(answers).toEqual(Array.from({ length: 40 }, () => "ok"));
  expect(connections.length).toBe(32);
});

test("a request that waits gets a new connection when another one breaks", async () => {
  let begun = 0;
  const { get, connections } = await serve((socket) => {
    begun += 1;
    if (begun === 32) connections[0]?.destroy();
    if (begun < 33) return;
    for (const each of connections) each.write(answerOf("ok"));
    expect(socket).toBe(connections.at(-1));
  });
  const first = Array.from({ length: 32 }, () => get().catch(() => "broken"));
  expect(await get()).toBe("ok");
  expect((await Promise.all(first)).filter((answer) => answer === "ok").length).toBe(31);
});

test("bytes that no request has asked for are no answer to the next one, and end their connection", async () => {
  const { get, connections } = await serve((socket) => void socket.write(answerOf("asked")));
  await get();
  const [first] = connections;
  if (first === undefined) throw new Error("nothing is connected");
  const closed = once(first, "close");
  first.write(answerOf("not asked"));
  await closed;
  expect(await get()).toBe("asked");
  expect(connections.length).toBe(2);
});

test("a connection that breaks while it is idle is replaced", async () => {
  const { get, connections } = await serve((socket) => void socket.write(answerOf("ok")));
  await get();
  const [first] = connections;
  if (first === undefined) throw new Error("nothing is connected");
  const closed = once(first, "close");
  first.resetAndDestroy();
  await closed;
  expect(await get()).toBe("ok");
  expect(connections.length).toBe(2);
});

/** The connections of two requests, the second after the client has ended the idle one to a server that keeps it for so many seconds. */
async function connectionsTo(seconds: number): Promise<number> {
  const { get, connections } = await serve(
    (socket) => void socket.write(answerOf("ok", `Keep-Alive: timeout=${seconds}`)),
  );
  await get();
  const [first] = connections;
  if (first === undefined) throw new Error("nothing is connected");
  if (!first.closed) await once(first, "close", { signal: AbortSignal.timeout(deadlineMs) });
  await get();
  return connections.length;
}

test("a connection that its server keeps for a second is not kept", async () => {
  expect(await connectionsTo(1)).toBe(2);
});

test("an idle connection is closed a second before its server would close it", async () => {
  expect(await connectionsTo(2)).toBe(2);
});

test("an idle connection does not keep the process running", async () => {
  const { url, connections } = await serve((socket) => void socket.write(answerOf("ok")));
  const root = join(import.meta.dirname, "../../..");
  const script = `
    const { homeNetwork } = await import("./lib/core/network/network-policy.ts");
    const { httpClient } = await import("./lib/http/http-client.ts");
    const request = { method: "GET", url: ${JSON.stringify(url)}, timeoutMs: ${deadlineMs}, maxBytes: 1000 };
    await httpClient({ network: homeNetwork }).send(request, new AbortController().signal);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { cwd: root, stdio: "inherit" });
  opened.defer(() => void child.kill());
  const [code] = await once(child, "exit", { signal: AbortSignal.timeout(deadlineMs) });
  expect({ code, connections: connections.length }).toEqual({ code: 0, connections: 1 });
});

test("a header that is not ASCII arrives as it is beside a body of text", async () => {
  const arrived: string[] = [];
  const { http, url } = await serve((socket, request) => {
    arrived.push(request);
    socket.write(answerOf("ok"));
  });
  for (const body of ["plain", "größer"]) {
    const headers = { "x-team": "Größe" };
    await http.send({ method: "POST", url, headers, body, timeoutMs: deadlineMs, maxBytes: 1_000 }, never);
  }
  expect(arrived.map((request) => /x-team: (.*)\r\n/.exec(request)?.[1])).toEqual(["Größe", "Größe"]);
  const bodies = arrived.map((request) => request.slice(request.indexOf("\r\n\r\n") + 4));
  expect(bodies.map((body) => Buffer.from(body, "latin1").toString())).toEqual(["plain", "größer"]);
});
