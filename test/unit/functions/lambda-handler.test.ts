import { describe, expect, onTestFinished, test, vi } from "vitest";
import { lambdaHandler } from "../../../functions/lambda/lambda-handler.ts";

const context = (ms: number) => ({ getRemainingTimeInMillis: () => ms });

describe("a handler as Lambda calls it", () => {
  test("is started once, by its first invocation", async () => {
    let starts = 0;
    const handler = lambdaHandler(async () => {
      const start = ++starts;
      return async (event) => [start, event];
    }, 0);
    expect(starts).toBe(0);
    expect(await handler("a", context(10_000))).toEqual([1, "a"]);
    expect(await handler("b", context(10_000))).toEqual([1, "b"]);
  });

  test("that could not be started is started again by the next one", async () => {
    let starts = 0;
    const handler = lambdaHandler(async () => {
      if (starts++ === 0) throw new Error("not yet");
      return async () => "done";
    }, 0);
    await expect(handler({}, context(10_000))).rejects.toThrow("not yet");
    expect(await handler({}, context(10_000))).toBe("done");
  });

  test("is aborted by the reserve before its time is up", async () => {
    const handler = lambdaHandler(
      async () => (_, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(String(signal.reason)))),
      60_000,
    );
    expect(await handler({}, context(60_010))).toBe("Error: the invocation's time is up");
  });

  test("leaves no timer running that would abort the next invocation", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const signals: AbortSignal[] = [];
    const handler = lambdaHandler(
      async () => async (_, signal) => {
        signals.push(signal);
      },
      10_000,
    );
    await handler({}, context(10_005));
    await handler({}, context(20_000));
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });
});
