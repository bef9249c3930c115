import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../lib/core/ports/clock.ts";

export function clockContract(name: string, clock: Clock): void {
  describe(`clock: ${name}`, () => {
    const never = new AbortController().signal;

    test("monotonic time never goes back and advances during a sleep", async () => {
      const before = clock.monotonic();
      await clock.sleep(20, never);
      // A timer may fire a fraction of a millisecond early.
      expect(clock.monotonic() - before).toBeGreaterThan(18);
    });

    test("wall time is in milliseconds since 1970", () => {
      expect(clock.now()).toBeGreaterThan(Date.UTC(2024, 0));
    });

    test("a sleep ends with the reason of its aborted signal, even if that was aborted before", async () => {
      const stop = new AbortController();
      const asleep = clock.sleep(3_600_000, stop.signal);
      stop.abort(new Error("time is up"));
      await expect(asleep).rejects.toThrow("time is up");
      await expect(clock.sleep(1, stop.signal)).rejects.toThrow("time is up");
    });

    test("a finished sleep leaves no listener on its signal, and a later abort has no effect", async () => {
      const stop = new AbortController();
      await Promise.all(Array.from({ length: 20 }, () => clock.sleep(1, stop.signal)));
      expect(getEventListeners(stop.signal, "abort")).toEqual([]);
      stop.abort(new Error("too late"));
    });

    test("sleeps with the same signal are independent: the shorter one ends first, an abort ends the rest", async () => {
      const stop = new AbortController();
      const ended: string[] = [];
      const long = [1, 2].map(() => clock.sleep(3_600_000, stop.signal).catch(() => ended.push("long")));
      await clock.sleep(0, stop.signal).then(() => ended.push("short"));
      stop.abort();
      await Promise.all(long);
      expect(ended).toEqual(["short", "long", "long"]);
    });
  });
}
