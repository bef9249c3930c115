import { describe, expect, test } from "vitest";
import type { CanaryWebhook } from "../../../../lib/api/canary.ts";
import { maxHookMs } from "../../../../lib/canary/hooks/hook-timeout.ts";
import { hooksOf } from "../../../../lib/canary/hooks/webhooks.ts";
import { messageOf } from "../../../../lib/core/failure.ts";
import { HttpError, type HttpErrorReason } from "../../../../lib/core/ports/http.ts";
import type { Answer } from "../../notify/recording-http.ts";
import { canaryOf, hooksWorld, type Turn } from "./hooks-world.ts";

const url = "http://gate.test/gate/check";

function called(hook: Partial<CanaryWebhook>, ...answers: readonly Turn[]) {
  const world = hooksWorld({ answers });
  const fault = hooksOf(canaryOf({}), world.deps)
    .call({ name: "gate", url, ...hook }, "Progressing")
    .then(() => undefined, messageOf);
  return { ...world, fault };
}

const broken = (reason: HttpErrorReason, why: string) => (): Answer => {
  throw new HttpError(reason, `POST ${url}: ${why}`);
};

describe("a webhook", () => {
  test("gets the body that Flagger sends, as recorded, with metadata", async () => {
    const world = hooksWorld();
    const hook = { name: "gate", url, metadata: { team: "web", area: "<shop>" } };
    await hooksOf(canaryOf({}), world.deps).call(hook, "Initialized");
    expect(world.bodies()).toEqual([
      '{"name":"podinfo","namespace":"test","phase":"Initialized","checksum":"7df467cc96",' +
        '"metadata":{"area":"\\u003cshop\\u003e","team":"web"}}',
    ]);
    expect(world.requests).toMatchObject([
      { method: "POST", url, timeoutMs: 10_000, headers: { "content-type": "application/json" } },
    ]);
  });

  test.each(["Succeeded", "Failed"] as const)(
    "canary/58: gets the phase of the call, not that of the status: %s, without metadata",
    async (phase) => {
      const world = hooksWorld();
      await hooksOf(canaryOf({}), world.deps).call({ name: "post", url, metadata: {} }, phase);
      expect(world.bodies()).toEqual([
        `{"name":"podinfo","namespace":"test","phase":"${phase}","checksum":"7df467cc96"}`,
      ]);
    },
  );

  test.each([
    { timeout: "30s", ms: 30_000 },
    { timeout: "1m30s", ms: 90_000 },
    { timeout: "1m1.5ms", ms: 60_002 },
    { timeout: "1m500us", ms: 60_001 },
    { timeout: "0s", ms: maxHookMs },
    { timeout: "11m", ms: maxHookMs },
  ])("has the timeout of its spec, at most ten minutes: $timeout", async ({ timeout, ms }) => {
    const { fault, requests } = called({ timeout });
    expect(await fault).toBe(undefined);
    expect(requests).toMatchObject([{ timeoutMs: ms }]);
  });

  test("is called without verification of its certificate if disableTLS is set", async () => {
    const [verified, unverified] = [called({}), called({ disableTLS: true })];
    await Promise.all([verified.fault, unverified.fault]);
    expect(verified.requests).toMatchObject([{ tls: { insecure: false } }]);
    expect(unverified.requests).toMatchObject([{ tls: { insecure: true } }]);
  });
});

describe("canary/46: an answer of a webhook", () => {
  test.each([200, 201, 202])("with status %i passes", async (status) => {
    expect(await called({}, { status }).fault).toBe(undefined);
  });

  test.each([
    { status: 203, body: "not authoritative" },
    { status: 204, body: "" },
    { status: 302, body: "without Location" },
    { status: 304, body: "" },
    { status: 403, body: "Forbidden" },
    { status: 404, body: "nothing to clean" },
    { status: 501, body: "not implemented" },
  ])("with status $status fails with its body as the text, after one request", async ({ status, body }) => {
    const { fault, requests } = called({ retries: 3 }, { status, body });
    expect(await fault).toBe(body);
    expect(requests).toHaveLength(1);
  });

  test("is shown without control characters", async () => {
    expect(await called({}, { status: 400, body: "a\u001b[2Jb" }).fault).toBe("a\\u001b[2Jb");
  });

  test.each([301, 302, 303])(
    "with status %i and a Location is followed by a GET, whose answer counts",
    async (status) => {
      const redirect = { status, headers: { location: "/open" } };
      const { fault, requests } = called({ disableTLS: true }, redirect, { status: 403, body: "closed" });
      expect(await fault).toBe("closed");
      expect(requests[1]).toMatchObject({ method: "GET", url: "http://gate.test/open", tls: { insecure: true } });
      expect(requests[1]?.body).toBe(undefined);
      expect(requests[1]?.headers).not.toHaveProperty("content-type");
    },
  );

  test.each([307, 308])("with status %i and a Location repeats the request there", async (status) => {
    const { fault, requests } = called({}, { status, headers: { location: "/open" } }, {});
    expect(await fault).toBe(undefined);
    expect(requests[1]).toMatchObject({ method: "POST", body: requests[0]?.body });
  });
});

describe("a webhook that does not answer", () => {
  test("canary/47: within its timeout fails with the text of Go's client", async () => {
    const { fault } = called({}, broken("timeout", "no answer within 10000 ms"));
    expect(await fault).toBe(
      `POST ${url} giving up after 1 attempt(s): Post "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    );
  });

  test.each([429, 500, 503])(
    "except with status %i is retried as often as retries says, and then fails",
    async (status) => {
      const { fault, requests, waits } = called({ retries: 2 }, { status, body: "not quoted" });
      expect(await fault).toBe(`POST ${url} giving up after 3 attempt(s)`);
      expect(requests).toHaveLength(3);
      expect(waits).toEqual([1_000, 2_000]);
    },
  );

  test("is not retried without retries", async () => {
    expect(await called({}, { status: 500 }).fault).toBe(`POST ${url} giving up after 1 attempt(s)`);
  });

  test("passes as soon as a retry is answered", async () => {
    const refused = broken("unreachable", "dial tcp 127.0.0.1:1: connect: connection refused");
    expect(await called({ retries: 1 }, refused, {}).fault).toBe(undefined);
    expect(await called({ retries: 1 }, refused).fault).toBe(
      `POST ${url} giving up after 2 attempt(s): Post "${url}": dial tcp 127.0.0.1:1: connect: connection refused`,
    );
  });

  test("because of an untrusted certificate is not retried", async () => {
    const { fault, requests } = called({ retries: 3 }, broken("tls", "certificate is not trusted"));
    expect(await fault).toContain("giving up after 1 attempt(s)");
    expect(requests).toHaveLength(1);
  });
});

test.each([
  { hook: { timeout: "10sx" }, fault: 'time: unknown unit "sx" in duration "10sx"' },
  { hook: { timeout: "10s5" }, fault: 'time: missing unit in duration "10s5"' },
  { hook: { timeout: "10s.s" }, fault: 'time: invalid duration "10s.s"' },
  { hook: { url: "://gate.test" }, fault: 'parse "://gate.test": missing protocol scheme' },
  { hook: { url: "http://gate.test:x/?token=t" }, fault: 'parse "http://gate.test:x/": invalid port ":x" after host' },
  {
    hook: { url: "ftp://gate.test/" },
    fault:
      'POST ftp://gate.test/ giving up after 1 attempt(s): Post "ftp://gate.test/": unsupported protocol scheme "ftp"',
  },
])(
  "a webhook with an invalid address or timeout fails with Go's text, and is not called: $fault",
  async ({ hook, fault }) => {
    const call = called(hook);
    expect(await call.fault).toBe(fault);
    expect(call.requests).toEqual([]);
  },
);

test("an aborted run does not count as a refusal by a webhook, also when a timeout aborts it", async () => {
  const ending = new AbortController();
  const reason = new DOMException("the process ends", "TimeoutError");
  const world = hooksWorld({
    signal: ending.signal,
    answers: [
      () => {
        ending.abort(reason);
        throw reason;
      },
    ],
  });
  await expect(hooksOf(canaryOf({}), world.deps).call({ name: "gate", url }, "Progressing")).rejects.toBe(reason);
});
