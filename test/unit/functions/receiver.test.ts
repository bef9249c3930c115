import { describe, expect, test, vi } from "vitest";
import { requestOfEvent, resultOf } from "../../../functions/lambda/http-event.ts";
import { answerWithinMs, firstAnswerWithinMs, receiveWebhooks, wakeWithinMs } from "../../../functions/receiver.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { Authenticate } from "../../../lib/receiver/authenticate.ts";
import { type IncomingRequest } from "../../../lib/receiver/delivery.ts";
import { firstContactMs } from "../../../lib/receiver/first-contact.ts";
import type { DeliveryDeps } from "../../../lib/receiver/handle-delivery.ts";
import { webhookPath } from "../../../lib/receiver/webhook-path.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { namespace, receiverWorld, token } from "../receiver/receiver-world.ts";

const event = {
  version: "2.0",
  rawPath: "/hook/x",
  rawQueryString: "",
  headers: { "x-gitlab-token": token },
  requestContext: { http: { method: "POST" } },
};

async function bodyOf({ body }: IncomingRequest): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString("latin1");
}

describe("an event of a function URL", () => {
  test("has a limited body, in base64 or not", async () => {
    expect(await bodyOf(requestOfEvent({ ...event, body: "ä" }))).toBe("Ã¤");
    const binary = { ...event, body: Buffer.from([0xff, 0x00]).toString("base64"), isBase64Encoded: true };
    expect(await bodyOf(requestOfEvent(binary))).toBe("\u00ff\u0000");
    expect(await bodyOf(requestOfEvent(event))).toBe("");
  });

  test("keeps its query, which makes it another webhook, and its headers in any letter case", () => {
    expect(requestOfEvent(event).uri).toBe("/hook/x");
    expect(requestOfEvent({ ...event, rawQueryString: "a=b" }).uri).toBe("/hook/x?a=b");
    expect(requestOfEvent(event).header("X-Gitlab-Token")).toBe(token);
  });

  test("of another format is refused", () => {
    expect(() => requestOfEvent({ ...event, version: "1.0" })).toThrow("2.0");
  });

  test("gets an answer with its status, and a text if there is no webhook", async () => {
    const world = receiverWorld();
    await world.ready({ type: "gitlab" });
    const answer = async (rawPath: string) => resultOf(await world.receive(requestOfEvent({ ...event, rawPath })));
    expect(await answer(world.path())).toEqual({ statusCode: 200, headers: {}, body: "" });
    expect(await answer("/")).toMatchObject({ statusCode: 404, body: "404 page not found\n" });
    expect(world.requested).toEqual(["OCIRepository/retail/shop"]);
  });
});

test.each(["/a/../b?\u20ac", "/a/../b?\ud800"])("%j, which is not a valid header value, is dropped", async (uri) => {
  const { receive, found } = receiverWorld();
  const answer = await receive({ uri, header: () => undefined, body: (async function* () {})() });
  expect([answer.status, found]).toEqual([404, []]);
});

test.each([
  ["/hook", "/hook/"],
  ["/hook?x=/../y", "/hook/?x=/../y"],
  ["//hook/x", "/hook/x"],
  ["/hook//x?y=?z&/../w#v", "/hook/x?y=?z&/../w#v"],
  ["/hook//x/", "/hook/x/"],
  ["/hook/./x", "/hook/x"],
  ["/hook/../x", "/x"],
  ["/hook/a/..", "/hook/"],
  ["/a/b/..", "/a"],
  ["/hook/..", "/"],
  ["//\\evil.example/%2e", "/%5Cevil.example/%252e"],
])("%s is redirected to %s, as by Go's router", async (uri, location) => {
  const { receive, found } = receiverWorld();
  const answer = await receive({ uri, header: () => undefined, body: (async function* () {})() });
  expect([answer.status, answer.headers.get("location"), await answer.text(), found]).toEqual([307, location, "", []]);
});

test("a webhook gets 500 in time if the state store does not answer", async () => {
  vi.useFakeTimers();
  try {
    const world = receiverWorld();
    const receive = receiveWebhooks({
      receivers: { find: () => new Promise(() => {}) },
      secretOf: async () => undefined,
      requests: world.deps.requests,
      authentications: {},
      cel: world.deps.cel,
      clock: world.clock,
      log: world.log,
      metrics: recordedMetrics(),
    });
    const deliver = () => receive(requestOfEvent({ ...event, rawPath: `/hook/${"0".repeat(64)}` }));
    const first = deliver();
    await vi.advanceTimersByTimeAsync(firstAnswerWithinMs);
    expect((await first).status).toBe(500);
    world.state.now += firstContactMs;
    const later = deliver();
    await vi.advanceTimersByTimeAsync(answerWithinMs);
    expect((await later).status).toBe(500);
    expect(JSON.stringify(world.log.lines)).toContain("no answer in time");
  } finally {
    vi.useRealTimers();
  }
});

describe("a Secret that takes three seconds to read", () => {
  const readMs = 3_000;

  /** Deliveries to Receivers of type gitlab, one in each of these clusters, whose Secrets take so long each time. */
  function slowSecrets(clusters: readonly string[]) {
    let reads = 0;
    const values = new Map([["token", new Secret(Buffer.from(token).toString("latin1"))]]);
    const secretOf: DeliveryDeps["secretOf"] = async () => {
      reads += 1;
      await new Promise((resolve) => {
        setTimeout(resolve, readMs);
      });
      return values;
    };
    const path = webhookPath(Buffer.from(token), { name: "hook", namespace });
    const made = oneReceiverIn(clusters, { secretOf }, { secret: "token", path });
    const statusAfter = async (ms: number): Promise<number> => {
      const answered = made.deliver();
      await vi.advanceTimersByTimeAsync(ms);
      return (await answered).status;
    };
    return { ...made, statusAfter, reads: () => reads };
  }

  test("loses no delivery that is the first of its cluster in this process", async () => {
    vi.useFakeTimers();
    try {
      const { statusAfter, world } = slowSecrets(["here"]);
      expect(await statusAfter(readMs)).toBe(200);
      world.state.now += firstContactMs - 1;
      expect(await statusAfter(readMs)).toBe(200);
      expect(world.requested).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is not awaited later, when the cluster should answer at once", async () => {
    vi.useFakeTimers();
    try {
      const { statusAfter, world } = slowSecrets(["here"]);
      expect(await statusAfter(readMs)).toBe(200);
      world.state.now += firstContactMs;
      expect(await statusAfter(answerWithinMs)).toBe(500);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is not awaited for longer than git hosts wait", () => {
    // GitHub and GitLab give up after ten seconds; a function that starts has taken some of them already.
    expect(firstAnswerWithinMs).toBeLessThanOrEqual(5_000);
  });
});

/** Takes every delivery of one Receiver in each of these clusters, each with one source. */
function oneReceiverIn(
  clusters: readonly string[],
  own: Partial<DeliveryDeps>,
  { secret, path }: { readonly secret?: string; readonly path?: string } = {},
) {
  const world = receiverWorld();
  const source = {
    label: "x",
    group: "source.toolkit.fluxcd.io",
    version: "v1",
    kind: "OCIRepository",
    namespace: "n",
  };
  const entry = {
    state: "ready",
    type: "generic",
    ...(secret === undefined ? {} : { secret }),
    events: [],
    resources: [{ ...source, objects: [{ name: "shop" }] }],
  } as const;
  const receive = receiveWebhooks({
    receivers: { find: async () => clusters.map((cluster) => ({ key: { ...world.keyOf("hook"), cluster }, entry })) },
    secretOf: async () => undefined,
    requests: world.deps.requests,
    authentications: { generic: () => ({ kind: "accepted" }) },
    cel: world.deps.cel,
    clock: world.clock,
    log: world.log,
    metrics: recordedMetrics(),
    ...own,
  });
  const rawPath = path ?? `/hook/${"0".repeat(64)}`;
  return { world, deliver: () => receive(requestOfEvent({ ...event, rawPath })) };
}

test("an authentic delivery is still handled after its time for authentication", async () => {
  vi.useFakeTimers();
  try {
    const hint: DeliveryDeps["requests"]["hint"] = async (_key, _reason, signal) => {
      await new Promise((resolve, reject) => {
        setTimeout(resolve, 5 * answerWithinMs);
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    };
    const { world, deliver } = oneReceiverIn(["here"], { requests: { hint } });
    const answered = deliver();
    await vi.advanceTimersByTimeAsync(5 * answerWithinMs);
    expect((await answered).status).toBe(200);
    expect(JSON.stringify(world.log.lines)).not.toContain("webhook not handled");
  } finally {
    vi.useRealTimers();
  }
});

test("a delivery that does not end is aborted before Lambda would stop the function", async () => {
  vi.useFakeTimers();
  try {
    const hint: DeliveryDeps["requests"]["hint"] = (_key, _reason, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const { deliver } = oneReceiverIn(["here"], { requests: { hint } });
    const answered = deliver();
    await vi.advanceTimersByTimeAsync(wakeWithinMs);
    expect((await answered).status).toBe(500);
  } finally {
    vi.useRealTimers();
  }
});

test("a cluster that does not answer does not delay another with the same path", async () => {
  vi.useFakeTimers();
  try {
    const woken: string[] = [];
    const hint: DeliveryDeps["requests"]["hint"] = async ({ cluster }) => void woken.push(cluster);
    // The first of them never ends.
    const generic = vi.fn<Authenticate>(() => ({ kind: "accepted" })).mockReturnValueOnce(new Promise(() => {}));
    const authentications = { generic };
    const { world, deliver } = oneReceiverIn(["away", "here"], { requests: { hint }, authentications });
    const answered = deliver();
    await vi.advanceTimersByTimeAsync(answerWithinMs);
    expect((await answered).status).toBe(500);
    expect(woken).toEqual(["here"]);
    expect(JSON.stringify(world.log.lines)).toContain("no answer in time");
  } finally {
    vi.useRealTimers();
  }
});
