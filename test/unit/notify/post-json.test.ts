import { describe, expect, test } from "vitest";
import { HttpError, type HttpErrorReason } from "../../../lib/core/ports/http.ts";
import { type Message, postAsMessage, sendOnce } from "../../../lib/notify/post-json.ts";
import { type Answer, recordingParts } from "./recording-http.ts";

const url = "http://example.test/hook";
const never = new AbortController().signal;

const broken = (reason: HttpErrorReason, why: string) => (): Answer => {
  throw new HttpError(reason, `POST ${url}: ${why}`);
};

async function faultOf(sent: Promise<unknown>): Promise<string> {
  try {
    await sent;
  } catch (error) {
    return error instanceof Error ? error.message : "not an error";
  }
  return "";
}

function post(message: Partial<Message>, parts: ReturnType<typeof recordingParts>): Promise<string> {
  return faultOf(postAsMessage({ url, body: "{}", ...message }, parts, never));
}

describe("55: a message that does not arrive is sent", () => {
  test("five times at most for status 500, after 2, 4, 8 and 16 s", async () => {
    const parts = recordingParts({ status: 500 });
    expect(await post({}, parts)).toBe(
      `postMessage failed: failed to execute request: POST ${url} giving up after 5 attempt(s): the last answer has status 500`,
    );
    expect(parts.requests).toHaveLength(5);
    expect(parts.waits).toEqual([2_000, 4_000, 8_000, 16_000]);
  });

  test("once for status 400, and for 501", async () => {
    for (const status of [400, 501]) {
      const parts = recordingParts({ status, body: "no" });
      expect(await post({}, parts)).toBe(
        `postMessage failed: request failed: request failed with status code ${status}: no`,
      );
      expect(parts.requests).toHaveLength(1);
    }
  });

  test("until it arrives, whatever the earlier answers were", async () => {
    const parts = recordingParts({ status: 503 }, { status: 429 }, { status: 202 });
    expect(await post({}, parts)).toBe("");
    expect(parts.requests).toHaveLength(3);
  });

  test("five times if no connection can be opened", async () => {
    const parts = recordingParts(broken("unreachable", "dial tcp 127.0.0.1:1: connect: connection refused"));
    expect(await post({}, parts)).toBe(
      `postMessage failed: failed to execute request: POST ${url} giving up after 5 attempt(s): Post "${url}": dial tcp 127.0.0.1:1: connect: connection refused`,
    );
    expect(parts.requests).toHaveLength(5);
  });

  test.each(["refused", "tls", "too-large"] as const)("once if a connection is impossible: %s", async (reason) => {
    const parts = recordingParts(broken(reason, "why"));
    expect(await post({}, parts)).toBe(
      `postMessage failed: failed to execute request: POST ${url} giving up after 1 attempt(s): Post "${url}": why`,
    );
    expect(parts.requests).toHaveLength(1);
  });

  test.each([
    { what: "seconds at 429", status: 429, after: "7", waited: 7_000 },
    { what: "seconds at 503", status: 503, after: "0", waited: 0 },
    { what: "a date", status: 503, after: "Mon, 02 Mar 2026 11:31:20 GMT", waited: 12_000 },
    { what: "a date in the past", status: 503, after: "Mon, 02 Mar 2026 11:31:00 GMT", waited: 0 },
    { what: "an invalid value", status: 503, after: "soon", waited: 2_000 },
    { what: "seconds at 500, where it does not apply", status: 500, after: "7", waited: 2_000 },
  ])("again when Retry-After says: $what", async ({ status, after, waited }) => {
    const parts = recordingParts({ status, headers: { "retry-after": after } }, {});
    expect(await post({}, parts)).toBe("");
    expect(parts.waits).toEqual([waited]);
  });

  test("until the timeout of the Provider, whose text has no cause", async () => {
    const deadline = new AbortController();
    const parts = recordingParts({ status: 500 });
    const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
      if (parts.waits.length === 3) deadline.abort(new DOMException("15 s are over", "TimeoutError"));
      await parts.sleep(ms, signal);
    };
    const sent = postAsMessage({ url, body: "{}" }, { ...parts, sleep }, deadline.signal);
    expect(await faultOf(sent)).toBe("postMessage failed: failed to execute request: context deadline exceeded");
    expect(parts.requests).toHaveLength(4);
  });

  test("until the timeout of the Provider even if the host does not answer", async () => {
    const deadline = new AbortController();
    const parts = recordingParts(() => {
      deadline.abort(new DOMException("15 s are over", "TimeoutError"));
      throw deadline.signal.reason;
    });
    const sent = postAsMessage({ url, body: "{}" }, parts, deadline.signal);
    expect(await faultOf(sent)).toBe(
      `postMessage failed: failed to execute request: POST ${url} giving up after 1 attempt(s): context deadline exceeded`,
    );
  });

  test("no more if the process shuts down, whose reason is rethrown", async () => {
    const ending = new AbortController();
    const reason = new Error("the process ends");
    const parts = recordingParts({ status: 500 });
    const sleep = async (): Promise<void> => {
      ending.abort(reason);
      throw reason;
    };
    await expect(postAsMessage({ url, body: "{}" }, { ...parts, sleep }, ending.signal)).rejects.toBe(reason);
  });
});

describe("a redirect of a notification", () => {
  test.each([301, 302, 303])("by %i fails, because it would lose the message", async (status) => {
    const parts = recordingParts({ status, headers: { location: "/elsewhere" } });
    expect(await post({}, parts)).toBe(
      `postMessage failed: request failed: request failed with status code ${status}: a redirect that would lose the message is not followed`,
    );
    expect(parts.requests).toHaveLength(1);
  });

  test.each([307, 308])("by %i repeats the request, with its method and body", async (status) => {
    const parts = recordingParts({ status, headers: { location: "/elsewhere" } }, {});
    const headers = { Authorization: "Bearer t" };
    expect(await post({ method: "PUT", headers, body: "text" }, parts)).toBe("");
    expect(parts.requests[1]).toEqual({ ...parts.requests[0], url: "http://example.test/elsewhere" });
  });

  test("is followed up to ten times", async () => {
    const parts = recordingParts({ status: 307, headers: { location: url } });
    expect(await post({}, parts)).toBe(
      `postMessage failed: failed to execute request: POST ${url} giving up after 1 attempt(s): Post "${url}": stopped after 10 redirects`,
    );
    expect(parts.requests).toHaveLength(11);
  });

  test("to another host sends no credentials", async () => {
    const parts = recordingParts({ status: 307, headers: { location: "https://other.test/" } }, {});
    const headers = { authorization: "Bearer t", "dd-api-key": "k", "gotk-component": "c" };
    expect(await post({ headers, tls: { ca: "ca", cert: "cert", key: "key" } }, parts)).toBe("");
    expect(parts.requests[1]).toMatchObject({ url: "https://other.test/", tls: { ca: "ca" } });
    expect(parts.requests[1]?.tls).toEqual({ ca: "ca" });
    expect(Object.keys(parts.requests[1]?.headers ?? {})).toEqual(["content-type", "user-agent", "gotk-component"]);
  });

  test("is not followed from https to http", async () => {
    const secure = "https://example.test/hook";
    const parts = recordingParts({ status: 308, headers: { location: url } });
    expect(await post({ url: secure }, parts)).toBe(
      `postMessage failed: failed to execute request: POST ${secure} giving up after 1 attempt(s): Post "${secure}": redirected to an address that is not followed`,
    );
  });
});

describe("the request of a notification", () => {
  const refused = (shown: string, why: string): string =>
    `postMessage failed: failed to execute request: POST ${shown} giving up after 1 attempt(s): Post "${shown}": ${why}`;

  test.each([
    {
      what: "a value with a newline",
      message: { headers: { authorization: "Bearer t\n" } },
      fault: refused(url, 'net/http: invalid header field value for "Authorization"'),
    },
    {
      what: "a name with a space",
      message: { headers: { "x y": "z" } },
      fault: refused(url, 'net/http: invalid header field name "x y"'),
    },
    {
      what: "another scheme",
      message: { url: "ftp://example.test/" },
      fault: refused("ftp://example.test/", 'unsupported protocol scheme "ftp"'),
    },
    { what: "no scheme", message: { url: "/hook" }, fault: refused("/hook", 'unsupported protocol scheme ""') },
    { what: "no host", message: { url: "http://" }, fault: refused("http://", "http: no Host in request URL") },
  ])("is not sent with $what", async ({ message, fault }) => {
    const parts = recordingParts({});
    expect(await post(message, parts)).toBe(fault);
    expect(parts.requests).toEqual([]);
  });

  test("has the last of two headers with the same name, trimmed, and none that the client sets itself", async () => {
    const parts = recordingParts({});
    const headers = {
      "X-Team": "a",
      "x-team": " b ",
      "Content-Type": "text/plain",
      Host: "other",
      "Content-Length": "1",
    };
    await post({ headers }, parts);
    expect(parts.requests[0]?.headers).toEqual({ "content-type": "text/plain", "user-agent": "sluice", "x-team": "b" });
  });

  test("has headers in UTF-8, byte by byte", async () => {
    const parts = recordingParts({});
    await post({ headers: { "x-team": "Größe" } }, parts);
    expect(Buffer.from(parts.requests[0]?.headers?.["x-team"] ?? "", "latin1").toString()).toBe("Größe");
  });

  test("is shown without the query and the user of its address", async () => {
    const parts = recordingParts(broken("tls", "why"));
    const fault = await post({ url: "http://name:secret@example.test/hook?key=secret" }, parts);
    expect(fault).toContain(`POST ${url} giving up after 1 attempt(s)`);
    expect(fault).not.toContain("secret");
  });

  test("that is sent once returns its answer, whatever the status", async () => {
    const parts = recordingParts({ status: 500 });
    expect(await sendOnce({ url, body: "{}" }, parts, never)).toMatchObject({ status: 500 });
    const gone = recordingParts(broken("unreachable", "why"));
    expect(await faultOf(sendOnce({ url, body: "{}" }, gone, never))).toBe(`Post "${url}": why`);
    expect(gone.requests).toHaveLength(1);
  });
});

test("the text of an answer is shown without control characters, and cut", async () => {
  const parts = recordingParts({ status: 400, body: `\u001b[2J${"x".repeat(100_000)}` });
  const fault = await post({}, parts);
  expect(fault).toContain(String.raw`status code 400: \u001b[2Jxxx`);
  expect(Buffer.byteLength(fault)).toBeLessThan(33_000);
});
