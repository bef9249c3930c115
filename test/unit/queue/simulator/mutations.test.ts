import { describe, expect, test } from "vitest";
import { takenOut } from "./mutations.ts";
import { simulate } from "./simulate.ts";

const maxSeeds = 4_000;

describe("the simulator misses every rule of the protocol that is taken out", () => {
  test.for(takenOut)("$rule", { timeout: 120_000 }, async ({ mutation }) => {
    const found = await firstFailure(mutation);
    expect(found).toBeDefined();
  });
});

async function firstFailure(mutation: (typeof takenOut)[number]["mutation"]): Promise<string | undefined> {
  for (let seed = 1; seed <= maxSeeds; seed += 1) {
    const { violations } = await simulate(seed, mutation);
    if (violations.length > 0) return `seed ${seed}: ${violations.join("; ")}`;
  }
  return undefined;
}
