import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type PlayedCost, play } from "./play.ts";
import { badReaders } from "./readers/bad.ts";
import { worstInputs } from "./readers.ts";
import { keyOf, maxBlockedMs, type WorstInput } from "./worst-input.ts";

const root = join(import.meta.dirname, "../..");
/** A reader that costs too much does so each time. What the machine did beside it does not repeat. */
const maxPlays = 3;

/** The first play within the limits, or the last one. */
async function leastCost(input: WorstInput): Promise<PlayedCost> {
  let cost = await play(input);
  for (let plays = 1; plays < maxPlays && !isWithin(cost, input); plays++) cost = await play(input);
  return cost;
}

function isWithin({ blockedMs, grownMiB }: PlayedCost, { memoryMiB }: WorstInput): boolean {
  return blockedMs <= maxBlockedMs && grownMiB <= memoryMiB;
}

describe("the worst input of a reader blocks the event loop and takes memory within the limits", () => {
  test.for(worstInputs.map((input) => [keyOf(input), input] as const))("%s", async ([, input]) => {
    const { blockedMs, grownMiB } = await leastCost(input);
    expect(Math.round(blockedMs), "ms blocked").toBeLessThanOrEqual(maxBlockedMs);
    expect(Math.round(grownMiB), "MiB").toBeLessThanOrEqual(input.memoryMiB);
  });

  test("every reader is a file, and every input has a name of its own", () => {
    expect(worstInputs.filter(({ reader }) => !existsSync(join(root, reader)))).toEqual([]);
    expect(new Set(worstInputs.map(keyOf)).size).toBe(worstInputs.length);
  });
});

describe("the measurement", () => {
  const costOf = (name: string): Promise<PlayedCost> => {
    const input = badReaders.find((each) => each.name === name);
    if (input === undefined) throw new RangeError(name);
    return play(input);
  };

  test("a reader that works for half a second without a pause is over the limit", async () => {
    expect((await costOf("blocks for half a second")).blockedMs).toBeGreaterThan(maxBlockedMs);
  });

  test("a reader that works as long in slices is within the limit", async () => {
    expect((await costOf("works for half a second in slices")).blockedMs).toBeLessThanOrEqual(maxBlockedMs);
  });

  test("memory that is freed before the end counts", async () => {
    expect((await costOf("holds 300 MiB for a moment")).grownMiB).toBeGreaterThan(250);
  });
});
