import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HistoryRecord } from "../../lib/core/ports/history.ts";
import { keyOf, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

function record(number: number): HistoryRecord {
  const counts = { created: 1, configured: 2, unchanged: 3, deleted: 4 };
  return {
    at: 1_790_000_000_000 + number,
    revision: `v${number}@sha256:0`,
    outcome: "applied",
    durationMs: 1.5,
    ...counts,
  };
}

export function historyContract(name: string, open: OpenState): void {
  describe(`history: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    test("a new object has an empty history", async () => {
      expect(await state.history.latest(keyOf("web"), 10, never)).toEqual([]);
    });

    test("the newest records come first, at most as many as requested, and only of that object", async () => {
      for (const number of [1, 2, 3]) await state.history.append(keyOf("web"), record(number), never);
      await state.history.append(keyOf("db"), record(9), never);
      expect(await state.history.latest(keyOf("web"), 2, never)).toEqual([record(3), record(2)]);
      expect(await state.history.latest(keyOf("web"), 10, never)).toEqual([record(3), record(2), record(1)]);
    });

    test("a record under an aborted signal is not stored", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await expect(state.history.append(keyOf("web"), record(1), stopped)).rejects.toThrow("time is up");
      await expect(state.history.latest(keyOf("web"), 10, stopped)).rejects.toThrow("time is up");
      expect(await state.history.latest(keyOf("web"), 10, never)).toEqual([]);
    });

    test("a hundred records of an object are kept", async () => {
      for (let number = 0; number < 130; number++) await state.history.append(keyOf("web"), record(number), never);
      const latest = await state.history.latest(keyOf("web"), 100, never);
      expect(latest.map(({ at }) => at)).toEqual(Array.from({ length: 100 }, (_, index) => record(129 - index).at));
    });
  });
}
