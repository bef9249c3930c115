import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testTimeoutMs } from "../../../deadline.ts";
import { firstFailures, foundPage } from "../../queue/simulator/found-page.ts";
import { tellOwnership } from "./ownership-story.ts";
import { ownershipTakenOut } from "./ownership-taken-out.ts";

const page = join(import.meta.dirname, "../../../../docs/maintainers/simulator/ownership.md");
const seeds = Number(process.env["SLUICE_SIM_OWNERSHIP_SEEDS"] ?? 60);
const only = process.env["SLUICE_SIM_OWNERSHIP_SEED"];

describe("three Kustomizations hand objects to each other while their runs are killed between any two effects", () => {
  test.runIf(only === undefined)(
    `nothing wanted is deleted, nothing is left over and no object has two owners in ${seeds} seeds`,
    { timeout: 3 * testTimeoutMs },
    async () => {
      const failed: string[] = [];
      for (let seed = 1; seed <= seeds && failed.length < 5; seed += 1) {
        const { violations } = await tellOwnership(seed);
        if (violations.length > 0) failed.push(`SLUICE_SIM_OWNERSHIP_SEED=${seed}: ${violations.join("; ")}`);
      }
      expect(failed).toEqual([]);
    },
  );

  test.runIf(only !== undefined)(`replays seed ${only}`, async () => {
    const { violations, trace } = await tellOwnership(Number(only), {}, true);
    process.stdout.write(`${trace.join("\n")}\n`);
    expect(violations).toEqual([]);
  });

  test("gives the same result twice for the same seed", async () => {
    const [first, second] = [await tellOwnership(7, {}, true), await tellOwnership(7, {}, true)];
    expect(first.trace.length).toBeGreaterThan(20);
    expect(second.trace).toEqual(first.trace);
  });
});

describe("the simulator notices every ownership rule that is removed", () => {
  const find = firstFailures(tellOwnership, page);
  test.for(ownershipTakenOut)("$rule", async (taken) => {
    expect(await find(taken)).toBeDefined();
  });

  test("docs/maintainers/simulator/ownership.md lists the seed for each rule: vitest -u writes it", async () => {
    const found = foundPage({
      title: "Rules of ownership",
      run: "test/unit/flows/ownership/ownership.test.ts",
      about: "[What the stories are](../testing.md#who-owns-what)",
      found: await Promise.all(ownershipTakenOut.map(find)),
    });
    await expect(found).toMatchFileSnapshot(page);
  });
});
