import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { maxDelayMs, maxMessageBytes, type WakeUps } from "../../lib/core/ports/wake-ups.ts";
import { never } from "./state-back-end.ts";

/** A message as the reader of the queue gets it. */
interface Received {
  readonly body: string;
  readonly receives: number;
  hide(visibilityMs: number): Promise<void>;
  remove(): Promise<void>;
}

export interface QueueBackEnd {
  readonly wakeUps: WakeUps;
  /** What is visible now, each hidden for so long. */
  receive(visibilityMs: number): Promise<readonly Received[]>;
  /** Lets time pass: really, or on the clock that the queue reads. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What the work queue needs of a message queue. Times are whole seconds, the finest that SQS knows. */
export function wakeUpQueueContract(name: string, open: () => Promise<QueueBackEnd>): void {
  describe(`queue of wake-ups: ${name}`, () => {
    let queue: QueueBackEnd;
    beforeEach(async () => {
      queue = await open();
    });
    afterEach(() => queue.close());

    /** Longer than any test takes: what is hidden so comes back in none. */
    const long = 600_000;
    const bodies = async (visibilityMs = long): Promise<readonly unknown[]> =>
      (await queue.receive(visibilityMs)).map(({ body }): unknown => JSON.parse(body));

    test("a wake-up arrives unchanged", async () => {
      const wakeUp = { key: "home/g/K/ns/web", held: { holder: "a-random-name", renewals: 1 }, dueAt: 12.5 };
      await queue.wakeUps.send(wakeUp, 0, never);
      expect(await bodies()).toEqual([wakeUp]);
    });

    test("a delayed message is not visible before its time", async () => {
      await queue.wakeUps.send({ key: "much later" }, long, never);
      await queue.wakeUps.send({ key: "now" }, 0, never);
      expect(await bodies()).toEqual([{ key: "now" }]);
      await queue.wakeUps.send({ key: "later" }, 2_000, never);
      await queue.pass(2_100);
      expect(await bodies()).toEqual([{ key: "later" }]);
    });

    test("a send under an aborted signal sends nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(queue.wakeUps.send({ key: "web" }, 0, stopped)).rejects.toThrow("time is up");
      expect(await bodies()).toEqual([]);
    });

    test("the longest wake-up arrives unchanged", async () => {
      const wakeUp = {
        key: "\u{1F409}".repeat(650),
        held: { holder: "\u{1F409}".repeat(50), renewals: 2 ** 53 - 1 },
        dueAt: Number.MAX_VALUE,
      };
      await queue.wakeUps.send(wakeUp, 0, never);
      expect(await bodies()).toEqual([wakeUp]);
    });

    test("a message of 256 KiB is accepted, and one that is a byte larger is refused before it is sent", async () => {
      const around = Buffer.byteLength(JSON.stringify({ key: "" }));
      // Two bytes each in UTF-8: what counts are bytes, not characters.
      const longest = { key: "é".repeat((maxMessageBytes - around) / 2) };
      await queue.wakeUps.send(longest, 0, never);
      const [message] = await queue.receive(long);
      expect(JSON.parse(message?.body ?? "")).toEqual(longest);
      const sending = queue.wakeUps.send({ key: `${longest.key}!` }, 0, never);
      await expect(sending).rejects.toThrow(
        new RangeError("a message of 262145 bytes is too long for a queue, which takes 262144 at most"),
      );
      expect(await queue.receive(long)).toEqual([]);
    });

    test.each([-1, maxDelayMs + 1, Number.NaN])(
      "a delay of %d ms is refused before anything is sent",
      async (delayMs) => {
        const message = `a wake-up can be delayed by 0 to 900000 ms, not ${delayMs}: store its dueAt instead`;
        await expect(queue.wakeUps.send({ key: "web" }, delayMs, never)).rejects.toThrow(new RangeError(message));
        expect(await bodies()).toEqual([]);
      },
    );

    test("the longest delay is accepted", async () => {
      await queue.wakeUps.send({ key: "later" }, maxDelayMs, never);
      expect(await bodies()).toEqual([]);
    });

    test("a received message is hidden, becomes visible after its time, and counts how often it was received", async () => {
      await queue.wakeUps.send({ key: "web" }, 0, never);
      const [first] = await queue.receive(2_000);
      expect(first?.receives).toBe(1);
      await queue.pass(2_100);
      const [second] = await queue.receive(long);
      expect(second?.receives).toBe(2);
      expect(await queue.receive(long)).toEqual([]);
    });

    test("hiding a message for longer keeps it hidden, hiding it for no time makes it visible", async () => {
      await queue.wakeUps.send({ key: "web" }, 0, never);
      // Time enough to hide it again before it comes back.
      const [first] = await queue.receive(10_000);
      await first?.hide(long);
      await queue.pass(10_100);
      expect(await queue.receive(long)).toEqual([]);
      await first?.hide(0);
      expect(await queue.receive(long)).toHaveLength(1);
    });

    test("a removed message is never received again", async () => {
      await queue.wakeUps.send({ key: "web" }, 0, never);
      const [first] = await queue.receive(1_000);
      await first?.remove();
      await queue.pass(1_100);
      expect(await queue.receive(1_000)).toEqual([]);
    });
  });
}
