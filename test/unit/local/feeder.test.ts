import { describe, expect, test } from "vitest";
import type { Log } from "../../../lib/core/ports/log.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { parseReceiptHandle, type SqsEvent, sqsEvent } from "../../../local/aws-events.ts";
import { type Feeder, startFeeder } from "../../../local/feeder.ts";
import { type MessageQueue, sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const done = { batchItemFailures: [] };

type Handler = Parameters<typeof startFeeder>[0]["handler"];

interface Fed {
  readonly queue: MessageQueue;
  readonly feeder: Feeder;
  /** Messages in the state file, whether visible or not. */
  readonly count: () => number;
}

async function withFeeder(
  handler: Handler,
  work: (fed: Fed) => Promise<void>,
  { placesOf = (_group: string): number => 8, log = silentLog } = {},
): Promise<void> {
  const database = openStateDatabase(":memory:");
  const queue = sqliteMessageQueue(database, systemClock);
  const feeder = startFeeder({ queue, handler, placesOf, log });
  const count = (): number => Number(database.connection.prepare("SELECT count(*) AS n FROM messages").get()?.["n"]);
  try {
    await work({ queue, feeder, count });
  } finally {
    await feeder.stop(new Error("the test ends"));
    database.close();
  }
}

function bodyOf({ Records }: SqsEvent): string {
  return Records.map(({ body }) => body).join();
}

describe("the feeder", () => {
  test("gives each message to the function, in the shape of SQS, and removes it when the function has finished", async () => {
    const events: SqsEvent[] = [];
    const handler: Handler = async (event) => {
      events.push(event);
      return done;
    };
    await withFeeder(handler, async ({ queue, count }) => {
      queue.send("a", 0);
      queue.send("b", 0);
      await expect.poll(count).toBe(0);
      expect(events.map(bodyOf)).toEqual(["a", "b"]);
      expect(events[0]?.Records[0]).toEqual({
        messageId: "1",
        receiptHandle: "1.1",
        body: "a",
        attributes: { ApproximateReceiveCount: "1" },
        eventSource: "aws:sqs",
      });
    });
  });

  test("waits for a delayed message and for a message that was hidden again", async () => {
    const seen: string[] = [];
    const handler: Handler = async (event) => {
      seen.push(bodyOf(event));
      return done;
    };
    await withFeeder(handler, async ({ queue, count }) => {
      queue.send("later", 40);
      expect(seen).toEqual([]);
      await expect.poll(() => seen).toEqual(["later"]);
      expect(count()).toBe(0);
    });
  });

  test("runs at most as many handlers as its concurrency, and takes the next message as soon as one ends", async () => {
    const waiting = new Map<string, () => void>();
    const handler: Handler = async (event) => {
      await new Promise<void>((resolve) => waiting.set(bodyOf(event), resolve));
      return done;
    };
    await withFeeder(
      handler,
      async ({ queue, count }) => {
        for (const body of ["a", "b", "c"]) queue.send(body, 0);
        await expect.poll(() => [...waiting.keys()]).toEqual(["a", "b"]);
        waiting.get("b")?.();
        await expect.poll(() => [...waiting.keys()]).toEqual(["a", "b", "c"]);
        waiting.get("a")?.();
        waiting.get("c")?.();
        await expect.poll(count).toBe(0);
      },
      { placesOf: () => 2 },
    );
  });

  test("a group whose handlers all hang does not delay another group, and one without places stays in the queue", async () => {
    const seen: string[] = [];
    const handler: Handler = async (event, signal) => {
      const body = bodyOf(event);
      seen.push(body);
      if (body.startsWith("hangs"))
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return done;
    };
    const places = new Map([
      ["away", 2],
      ["near", 1],
    ]);
    await withFeeder(
      handler,
      async ({ queue, feeder, count }) => {
        for (const body of ["hangs 1", "hangs 2", "hangs 3"]) queue.send(body, 0, "away");
        queue.send("later", 0, "not served yet");
        for (const body of ["a", "b", "c"]) queue.send(body, 0, "near");
        await expect.poll(() => seen).toEqual(["hangs 1", "hangs 2", "a", "b", "c"]);
        expect(count()).toBe(4);
        places.set("not served yet", 1);
        feeder.look();
        await expect.poll(() => seen.at(-1)).toBe("later");
      },
      { placesOf: (group) => places.get(group) ?? 0 },
    );
  });

  test.each([
    {
      name: "says so",
      handler: async (event: SqsEvent) => ({
        batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
      }),
    },
    {
      name: "throws",
      handler: async () => {
        throw new Error("broken");
      },
    },
  ])("a message whose handler $name stays hidden and is delivered again", async ({ handler }) => {
    let handled = 0;
    const counted: Handler = async (event) => {
      handled += 1;
      return handled === 1 ? handler(event) : done;
    };
    await withFeeder(counted, async ({ queue, count }) => {
      queue.send("a", 0);
      await expect.poll(() => handled).toBe(1);
      expect(count()).toBe(1);
      queue.hide({ id: "1", receives: 1 }, 0);
      await expect.poll(count).toBe(0);
      expect(handled).toBe(2);
    });
  });

  test("stopping aborts the handlers with the reason, waits for them and takes no more messages", async () => {
    const reasons: unknown[] = [];
    const handler: Handler = async (_event, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      reasons.push(signal.reason);
      throw new Error("stopped");
    };
    await withFeeder(handler, async ({ queue, feeder, count }) => {
      queue.send("a", 0);
      await expect.poll(() => queue.nextVisibleInMs() ?? 0).toBeGreaterThan(0);
      const reason = new Error("the process ends");
      await feeder.stop(reason);
      expect(reasons).toEqual([reason]);
      queue.send("b", 0);
      expect(count()).toBe(2);
    });
  });

  test("logs a failure while it stops, but not the stop itself", async () => {
    const told: unknown[] = [];
    const log: Log = { ...silentLog, error: (_message, fields) => void told.push(fields?.["error"]) };
    const handler: Handler = async (event, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      if (bodyOf(event) === "bad") throw new Error("broken");
      throw signal.reason;
    };
    const work = async ({ queue, feeder }: Fed): Promise<void> => {
      queue.send("good", 0);
      queue.send("bad", 0);
      await expect.poll(() => queue.nextVisibleInMs() ?? 0).toBeGreaterThan(1_000);
      await feeder.stop(new Error("the process ends"));
    };
    await withFeeder(handler, work, { log });
    expect(told).toEqual(["broken"]);
  });

  test("the messages of a dead process are visible to the next process at once", () => {
    const database = openStateDatabase(":memory:");
    const before = sqliteMessageQueue(database, systemClock);
    before.send("in hand", 0);
    before.send("delayed", 600_000);
    expect(before.receive(10, 60_000)).toHaveLength(1);
    const after = sqliteMessageQueue(database, systemClock);
    expect(after.receive(10, 60_000).map(({ body, receives }) => [body, receives])).toEqual([["in hand", 2]]);
    database.close();
  });
});

describe("receipt handles", () => {
  test("contain their delivery", () => {
    const [record] = sqsEvent([{ id: "17", body: "", receives: 3 }]).Records;
    expect(parseReceiptHandle(record?.receiptHandle ?? "")).toEqual({ id: "17", receives: 3 });
  });

  test.each(["", "17", "17.", "a.b", "1.2.3"])("'%s' is refused", (handle) => {
    expect(() => parseReceiptHandle(handle)).toThrow("is not a receipt handle of ours");
  });
});
