import { expect, test } from "vitest";
import { digestOf } from "../../../lib/core/digest.ts";
import { formatUnnamed, maxUnnamed, maxUnnamedBytes, parseUnnamed } from "../../../lib/core/unnamed-artifacts.ts";

test("the notes of one collection are read back unchanged by the next", () => {
  const unnamed = new Map([
    [digestOf("a"), 0],
    [digestOf("b"), 1_800_000_000_000],
  ]);
  expect(parseUnnamed(formatUnnamed(unnamed))).toEqual(unnamed);
  expect(parseUnnamed("")).toEqual(new Map());
});

test("damaged lines of the notes are skipped, and the others are read", () => {
  const text = `${digestOf("a")} 12\n${digestOf("b")}\nsha256:short 3\n${digestOf("c")} -1\n${digestOf("d")} 5`;
  expect(parseUnnamed(text)).toEqual(
    new Map([
      [digestOf("a"), 12],
      [digestOf("d"), 5],
    ]),
  );
});

test("the notes about the maximum number of artifacts with the longest times fit into the read limit", () => {
  const line = formatUnnamed(new Map([[digestOf("a"), Number.MAX_SAFE_INTEGER]]));
  expect(line.length * maxUnnamed).toBe(maxUnnamedBytes);
});
