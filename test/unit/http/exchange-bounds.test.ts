import { once } from "node:events";
import { IncomingMessage, request as requestHttp } from "node:http";
import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { type Bounds, boundsOf } from "../../../lib/http/exchange-bounds.ts";
import { wholeBody } from "../../../lib/http/send-request.ts";

const request = { method: "GET", url: "http://host.test/", timeoutMs: 60_000, maxBytes: 10 } as const;

test("a request that begins after its exchange was aborted is destroyed at once", async () => {
  const caller = new AbortController();
  const bounds = boundsOf(request, caller.signal);
  caller.abort(new Error("the run has ended"));
  // It never connects by itself.
  const outgoing = requestHttp({ createConnection: () => new Socket() });
  const failed = once(outgoing, "error");
  bounds.end(outgoing);
  await failed;
  expect(outgoing.destroyed).toBe(true);
  expect(() => bounds.throwIfEnded(undefined)).toThrow("the run has ended");
});

/** Begins a request of the exchange, and answers it without keeping it. */
async function beginAndEnd(bounds: Bounds): Promise<WeakRef<object>> {
  const outgoing = requestHttp({ createConnection: () => new Socket() });
  bounds.end(outgoing);
  const failed = once(outgoing, "error");
  outgoing.destroy(new Error("ended"));
  await failed;
  return new WeakRef(outgoing);
}

test("an exchange that has ended does not keep its request in memory", async () => {
  setFlagsFromString("--expose-gc");
  const bounds = boundsOf(request, new AbortController().signal);
  const outgoing = await beginAndEnd(bounds);
  bounds.release();
  // A weak reference holds its object until the current job is over.
  await setImmediate();
  runInNewContext("gc()");
  expect(outgoing.deref()).toBeUndefined();
  bounds.throwIfEnded(undefined);
});

test("an answer that is destroyed after its last byte and before its end was read is a failure, and does not hang", async () => {
  const incoming = new IncomingMessage(new Socket());
  incoming.push("all of it");
  incoming.complete = true;
  const bounds = boundsOf(request, new AbortController().signal);
  const body = wholeBody({ incoming, url: new URL(request.url) }, request, bounds);
  incoming.destroy();
  await expect(body).rejects.toThrow("the answer broke off: aborted");
  bounds.release();
});

test("a timeout says whether the head of the answer had arrived", async () => {
  const bounds = boundsOf({ ...request, timeoutMs: 1 }, new AbortController().signal);
  await once(bounds.signal, "abort");
  expect(() => bounds.throwIfEnded(undefined)).toThrow(
    expect.objectContaining({ reason: "timeout", exchange: expect.objectContaining({ hasHead: false }) }),
  );
  const incoming = new IncomingMessage(new Socket());
  const body = wholeBody({ incoming, url: new URL(request.url) }, request, bounds);
  incoming.destroy();
  await expect(body).rejects.toMatchObject({ reason: "timeout", exchange: { hasHead: true } });
});
