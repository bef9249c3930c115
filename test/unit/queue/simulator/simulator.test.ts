import { describe, expect, test } from "vitest";
import { testTimeoutMs } from "../../../deadline.ts";
import { simulate } from "./simulate.ts";

const seeds = Number(process.env["SLUICE_SIM_SEEDS"] ?? 300);
const only = process.env["SLUICE_SIM_SEED"];

describe("the work queue under every fault that its protocol allows for", () => {
  test.runIf(only === undefined)(`keeps its guarantees in ${seeds} seeds`, { timeout: 3 * testTimeoutMs }, async () => {
    const failed: string[] = [];
    for (let seed = 1; seed <= seeds && failed.length < 5; seed += 1) {
      const { violations } = await simulate(seed);
      if (violations.length > 0) failed.push(`SLUICE_SIM_SEED=${seed}: ${violations.join("; ")}`);
    }
    expect(failed).toEqual([]);
  });

  test.runIf(only !== undefined)(`replays seed ${only}`, async () => {
    const { violations, trace } = await simulate(Number(only), {}, true);
    process.stdout.write(`${trace.join("\n")}\n`);
    expect(violations).toEqual([]);
  });

  test("gives the same result twice for the same seed", async () => {
    const [first, second] = [await simulate(7, {}, true), await simulate(7, {}, true)];
    expect(first.trace.length).toBeGreaterThan(20);
    expect(second.trace).toEqual(first.trace);
  });
});
