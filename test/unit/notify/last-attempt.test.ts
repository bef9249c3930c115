import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { watched } from "../../../lib/notify/last-attempt.ts";

const { signal } = new AbortController();
const limits = { timeoutMs: 15_000, maxBytes: 1024 };

function parts() {
  return watched({
    http: { send: ({ url }) => Promise.resolve({ url, status: 200, headers: {}, body: Buffer.from("") }) },
    dial: () => Promise.resolve(new PassThrough()),
    now: () => 0,
    sleep: () => Promise.resolve(),
  });
}

describe("the text of a delivery that takes too long", () => {
  test("counts requests, and does not call one that was answered a failure", async () => {
    const { parts: watchedParts, whyLate } = parts();
    await watchedParts.http.send(
      { method: "GET", url: "https://git.example.test/one", headers: {}, ...limits },
      signal,
    );
    await watchedParts.http.send(
      { method: "POST", url: "https://git.example.test/two", headers: {}, ...limits },
      signal,
    );
    expect(whyLate(15_000)).toBe(
      "; the last of 2 requests within 15s: git.example.test answered with status 200; look at the log of the receiver, or raise spec.timeout of the Provider",
    );
  });

  test("says that a host which accepted the connection did not finish", async () => {
    const { parts: watchedParts, whyLate } = parts();
    await watchedParts.dial({ host: "nats.example.test", port: 4222 }, signal);
    expect(whyLate(15_000)).toContain(": nats.example.test:4222 was connected and did not finish; ");
  });
});
