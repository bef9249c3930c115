import { describe, expect, test } from "vitest";
import { driverTakenOut } from "./driver-taken-out.ts";
import { type Found, foundPage } from "./found-page.ts";
import { rulesTakenOut, type TakenOut } from "./rules-taken-out.ts";
import { simulate } from "./simulate.ts";

const maxSeeds = 300;
const takenOut = [...rulesTakenOut, ...driverTakenOut];
const found = new Map<string, Promise<Found | undefined>>();

describe("the simulator misses every rule of the protocol that is taken out", () => {
  test.for(takenOut)("$rule", { timeout: 120_000 }, async (taken) => {
    expect(await firstFailure(taken)).toBeDefined();
  });

  test("docs/simulator/queue.md says by which seed: vitest -u writes it", { timeout: 600_000 }, async () => {
    const rows = await Promise.all(takenOut.map(firstFailure));
    const page = foundPage("Rules of the work queue", "test/unit/queue/simulator/mutations.test.ts", rows);
    await expect(page).toMatchFileSnapshot("../../../../docs/simulator/queue.md");
  });
});

/** Found once for each rule. */
function firstFailure(taken: TakenOut): Promise<Found | undefined> {
  const known = found.get(taken.rule) ?? find(taken);
  found.set(taken.rule, known);
  return known;
}

async function find({ rule, mutation }: TakenOut): Promise<Found | undefined> {
  for (let seed = 1; seed <= maxSeeds; seed += 1) {
    const [violation] = (await simulate(seed, mutation)).violations;
    if (violation !== undefined) return { rule, seed, violation };
  }
  return undefined;
}
