import { expect, test } from "vitest";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import type { Log } from "../../../lib/core/ports/log.ts";
import { repeat } from "../../../local/start-runtime.ts";
import { silentLog } from "../../doubles/silent-log.ts";

/** Calls work every virtual minute until it has been called `calls` times; answers what was logged. */
async function sweeps(calls: number, work: (call: number, stop: AbortController) => Promise<void>) {
  const told: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_message, fields) => void told.push(fields?.["error"]) };
  const stop = new AbortController();
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: async (_ms, signal) => signal.throwIfAborted(),
  };
  let called = 0;
  const counted = async (): Promise<void> => {
    called++;
    if (called === calls) stop.abort(new Error("the process ends"));
    await work(called, stop);
  };
  await repeat("sweep", 60_000, counted, { clock, log }, stop.signal);
  return { called, told };
}

test("a loop continues after a failure, and logs it", async () => {
  const work = async (call: number): Promise<void> => {
    if (call === 1) throw new Error("table away");
  };
  expect(await sweeps(3, work)).toEqual({ called: 3, told: ["table away"] });
});

test("a loop ends when it is stopped, and logs a failure but not the stop", async () => {
  const stopped = await sweeps(1, async (_call, stop) => stop.signal.throwIfAborted());
  expect(stopped).toEqual({ called: 1, told: [] });
  expect(await sweeps(1, () => Promise.reject(new Error("broken")))).toEqual({ called: 1, told: ["broken"] });
});
