import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatDuration,
  isDurationHeld,
  maxDurationMs,
  maxDurationText,
  parseDuration,
} from "../../../lib/core/duration.ts";

describe("durations", () => {
  test.each([
    [0, "0s"],
    [30_000, "30s"],
    [60_000, "1m0s"],
    [270_000, "4m30s"],
    [3_600_000, "1h0m0s"],
    [1_500, "1.5s"],
    [176.163666, "176.163666ms"],
    [0.0125, "12.5µs"],
    [0.000_001, "1ns"],
    [-90_000, "-1m30s"],
  ])("%d ms is printed as in Go: %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test.each(["1h30m", "1.5h", "500ms", "30s", "0s"])("%s is accepted (2)", (text) => {
    expect(parseDuration(text)).toBeGreaterThanOrEqual(0);
  });

  test.each(["10", "-5m", "1d", "", "5 m", "m"])("%j is refused, and the message says how to fix it (2)", (text) => {
    expect(() => parseDuration(text)).toThrow(/is not a duration: write it like 30s/);
  });

  test("the limit is Go's: durations up to it are accepted, longer ones refused", () => {
    expect(parseDuration("2562047h47m15s")).toBe(9_223_372_035_000);
    expect(parseDuration(maxDurationText)).toBe(9_223_372_036_000);
    expect(() => parseDuration("2562047h47m17s")).toThrow(`is longer than ${maxDurationText}, the longest duration`);
    expect(() => parseDuration(`${"9".repeat(400)}h`)).toThrow("is longer than");
    expect(parseDuration(maxDurationText)).toBeLessThan(maxDurationMs);
    expect([isDurationHeld(maxDurationText), isDurationHeld("2562047h47m17s")]).toEqual([true, false]);
  });

  test("a long text is shortened in the message", () => {
    expect(() => parseDuration("x".repeat(1_000_000))).toThrow(/^"x{61}\.\.\." is not a duration/);
    expect(() => parseDuration("9h".repeat(500_000_000 / 1_000))).toThrow(/^"(?:9h)+9\.\.\." is longer/);
  });

  test("a printed duration can be parsed again, for whole milliseconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 3);
      }),
    );
  });
});
