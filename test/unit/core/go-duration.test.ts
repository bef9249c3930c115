import { expect, test } from "vitest";
import { parseGoDuration } from "../../../lib/core/go-duration.ts";

const readOf = (text: string): string | number => {
  try {
    return parseGoDuration(text);
  } catch (error) {
    return error instanceof RangeError ? error.message : String(error);
  }
};

test.each([
  ["1m30s", 90_000],
  ["1.5m", 90_000],
  [".5s", 500],
  ["0", 0],
  ["1us", 0.001],
  ["1m500us", 60_000.5],
  ["-1s", -1_000],
  ["300y", 'time: unknown unit "y" in duration "300y"'],
  ["3000000h", 'time: invalid duration "3000000h"'],
  ["", 'time: invalid duration ""'],
  ["m", 'time: invalid duration "m"'],
  ["5", 'time: missing unit in duration "5"'],
  ["5x", 'time: unknown unit "x" in duration "5x"'],
  ["1mxyz", 'time: unknown unit "mxyz" in duration "1mxyz"'],
])("%j is parsed as the duration %s", (text, ms) => {
  expect(readOf(text)).toBe(ms);
});
