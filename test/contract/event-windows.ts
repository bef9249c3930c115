import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type EventWindows, forgottenMs, windowMs } from "../../lib/core/ports/event-windows.ts";
import { never } from "./state-back-end.ts";

export interface EventWindowsBackEnd {
  readonly eventWindows: EventWindows;
  close(): Promise<void>;
}

const key = "9".repeat(64);
const begin = Date.UTC(2026, 10, 24, 12);

export function eventWindowsContract(name: string, open: () => Promise<EventWindowsBackEnd>): void {
  describe(`event windows: ${name}`, () => {
    let backEnd: EventWindowsBackEnd;
    beforeEach(async () => {
      backEnd = await open();
    });
    afterEach(() => backEnd.close());

    const take = (at: number, of = key, cluster = "home") => backEnd.eventWindows.take(cluster, of, begin + at, never);

    test("the first event of a key is accepted, and no other during its window", async () => {
      expect([await take(0), await take(1), await take(windowMs - 1)]).toEqual([true, false, false]);
      expect([await take(windowMs), await take(windowMs + 1)]).toEqual([true, false]);
    });

    test("covers reports whether a window is open, and opens none", async () => {
      const covers = (at: number) => backEnd.eventWindows.covers("home", key, begin + at, never);
      expect([await covers(0), await take(0)]).toEqual([false, true]);
      expect([await covers(windowMs - 1), await covers(windowMs), await take(windowMs)]).toEqual([true, false, true]);
    });

    test("windows follow one another from the first event on, whenever the next event comes", async () => {
      await take(0);
      expect(await take(windowMs * 1.5)).toBe(true);
      // It belongs to the window that began at 5 minutes, so the next begins at 10.
      expect([await take(windowMs * 2 - 1), await take(windowMs * 2)]).toEqual([false, true]);
    });

    test("a key whose window was forgotten starts a new window", async () => {
      await take(0);
      const late = forgottenMs + windowMs / 2;
      expect([await take(late), await take(late + windowMs - 1), await take(late + windowMs)]).toEqual([
        true,
        false,
        true,
      ]);
    });

    test("of many concurrent events of one key one is accepted", async () => {
      const first = await Promise.all(Array.from({ length: 10 }, () => take(0)));
      const next = await Promise.all(Array.from({ length: 10 }, () => take(windowMs)));
      expect([first.filter(Boolean), next.filter(Boolean)]).toEqual([[true], [true]]);
    });

    test("windows are separate for each key and cluster", async () => {
      await take(0);
      expect([
        await take(0, "8".repeat(64)),
        await take(0, key, "other"),
        await take(0, key, "n".repeat(1_000)),
      ]).toEqual([true, true, true]);
    });

    test("a call under an aborted signal accepts nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(backEnd.eventWindows.take("home", key, begin, stopped)).rejects.toThrow("time is up");
      expect(await take(0)).toBe(true);
    });
  });
}
