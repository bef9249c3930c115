import { describe, expect, test } from "vitest";
import { type PlayedCost, play } from "./play.ts";
import { keyOf, maxBlockedMs, type WorstInput } from "./worst-input.ts";

/** A reader that costs too much does so each time. What the machine did beside it does not repeat. */
const maxPlays = 3;

/**
 * The tests of some readers. Each list has a file of its own, so that several are played at the same time.
 *
 * @param list the module that exports the inputs: `readers/git.ts`
 */
export function stayWithinLimits(what: string, list: string, inputs: readonly WorstInput[]): void {
  describe(`the worst input of a reader of ${what} blocks the event loop and uses memory within the limits`, () => {
    test.for(inputs.map((input) => [keyOf(input), input] as const))("%s", async ([, input]) => {
      const { blockedMs, grownMiB } = await leastCost(input, list);
      expect(Math.round(blockedMs), "ms blocked").toBeLessThanOrEqual(maxBlockedMs);
      expect(Math.round(grownMiB), "MiB").toBeLessThanOrEqual(input.memoryMiB);
    });
  });
}

/** The first play within the limits, or the last one. */
async function leastCost(input: WorstInput, list: string): Promise<PlayedCost> {
  let cost = await play(input, list);
  for (let plays = 1; plays < maxPlays && !isWithin(cost, input); plays++) cost = await play(input, list);
  return cost;
}

function isWithin({ blockedMs, grownMiB }: PlayedCost, { memoryMiB }: WorstInput): boolean {
  return blockedMs <= maxBlockedMs && grownMiB <= memoryMiB;
}
