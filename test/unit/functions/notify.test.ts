import { describe, expect, test } from "vitest";
import { beginWithinMs, notifyHandler, retryAfterMs } from "../../../functions/notify.ts";
import type { Notification } from "../../../lib/notify/notification.ts";
import { notificationBody } from "../../../lib/notify/notification-message.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { notificationEventOf } from "../notify/notification-event-of.ts";

function messageFor(name: string): Notification {
  const involvedObject = { kind: "Kustomization", namespace: "apps", name };
  return {
    ...{ cluster: "prod", eventKey: "k", event: notificationEventOf({ involvedObject }) },
    alert: { namespace: "apps", name: "on-call" },
    provider: { namespace: "apps", name: "slack" },
  };
}

interface Given {
  readonly id: string;
  readonly group: string;
  readonly body?: string;
  readonly receives?: number;
}

function eventOf(records: readonly Given[]) {
  return {
    Records: records.map(({ id, group, body = notificationBody(messageFor(id)), receives = 1 }) => ({
      messageId: id,
      receiptHandle: `handle-${id}`,
      body,
      attributes: { MessageGroupId: group, ApproximateReceiveCount: String(receives) },
    })),
  };
}

/** A function whose deliveries of these objects fail. */
function world({ failing = [], tookMs = 0 }: { readonly failing?: readonly string[]; readonly tookMs?: number } = {}) {
  const delivered: string[] = [];
  const hidden: string[] = [];
  const log = recordedLog();
  const clock = steppedClock();
  const handler = notifyHandler({
    ...{ clock, log },
    deliver: async ({ event }) => {
      const { name } = event.involvedObject;
      clock.pass(tookMs);
      if (failing.includes(name)) throw new Error("the cluster did not answer");
      delivered.push(name);
    },
    hide: async (handle, ms) => void hidden.push(`${handle} ${ms}`),
  });
  const handle = async (records: readonly Given[], signal = new AbortController().signal) =>
    (await handler(eventOf(records), signal)).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  return { handle, handler, delivered, hidden, log };
}

describe("the function notify", () => {
  test("delivers the messages of a group in order, and removes them from the queue", async () => {
    const { handle, delivered, hidden } = world();
    expect(await handle(["a", "b", "c"].map((id) => ({ id, group: "g" })))).toEqual([]);
    expect(delivered).toEqual(["a", "b", "c"]);
    expect(hidden).toEqual([]);
  });

  test("leaves messages behind a failed one for later, together with it, and continues with the other groups", async () => {
    const { handle, delivered, hidden, log } = world({ failing: ["b"] });
    const failed = await handle([
      { id: "a", group: "g" },
      { id: "b", group: "g", receives: 2 },
      { id: "x", group: "h" },
      { id: "c", group: "g" },
    ]);
    expect(failed).toEqual(["b", "c"]);
    expect(delivered.toSorted()).toEqual(["a", "x"]);
    expect(hidden).toEqual(["handle-b 60000", "handle-c 60000"]);
    expect(log.lines).toMatchObject([
      { message: "notification not handled", cluster: "prod", name: "on-call", error: "the cluster did not answer" },
    ]);
  });

  test.each([
    ["no JSON", "{"],
    ["no notification", '{"cluster":"prod"}'],
  ])("turns a message that is %s into a dead letter soon, and quotes nothing of it", async (_, body) => {
    const { handle, hidden, log } = world();
    expect(await handle([{ id: "a", group: "g", body }])).toEqual(["a"]);
    expect(hidden).toEqual(["handle-a 0"]);
    expect(log.lines).toHaveLength(1);
    expect(JSON.stringify(log.lines)).not.toContain("prod");
  });

  test("starts no delivery so late that Lambda could interrupt it", async () => {
    const { handle, delivered, hidden } = world({ tookMs: beginWithinMs / 2 + 1 });
    expect(await handle(["a", "b", "c", "d"].map((id) => ({ id, group: "g" })))).toEqual(["c", "d"]);
    expect(delivered).toEqual(["a", "b"]);
    expect(hidden).toEqual([]);
  });

  test("starts no delivery once its time is up", async () => {
    const { handle, delivered } = world();
    expect(await handle([{ id: "a", group: "g" }], AbortSignal.abort())).toEqual(["a"]);
    expect(delivered).toEqual([]);
  });

  test("still answers if a message cannot be hidden", async () => {
    const log = recordedLog();
    const handler = notifyHandler({
      ...{ clock: steppedClock(), log },
      deliver: () => Promise.reject(new Error("no answer")),
      hide: () => Promise.reject(new Error("denied")),
    });
    const answer = await handler(eventOf([{ id: "a", group: "g" }]), new AbortController().signal);
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "a" }] });
    expect(log.lines).toMatchObject([
      { message: "notification not handled" },
      { message: "notification not set aside" },
    ]);
  });

  test("refuses an event of any other shape", async () => {
    await expect(world().handler({ Records: [{}] }, new AbortController().signal)).rejects.toThrow("Invalid input");
  });
});

test("a message that is not delivered waits twice as long each time, up to a quarter of an hour", () => {
  expect([1, 2, 3, 4, 5, 6, 12].map(retryAfterMs)).toEqual([
    30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000,
  ]);
});
