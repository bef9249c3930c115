import { describe, expect, test } from "vitest";
import { testTimeoutMs } from "../../../deadline.ts";
import { driverTakenOut } from "./driver-taken-out.ts";
import { firstFailures, foundPage } from "./found-page.ts";
import { rulesTakenOut } from "./rules-taken-out.ts";
import { simulate } from "./simulate.ts";

const takenOut = [...rulesTakenOut, ...driverTakenOut];

describe("the simulator misses every rule of the protocol that is taken out", () => {
  const find = firstFailures(simulate);
  test.for(takenOut)("$rule", { timeout: 3 * testTimeoutMs }, async (taken) => {
    expect(await find(taken)).toBeDefined();
  });

  test("docs/simulator/queue.md says by which seed: vitest -u writes it", { timeout: 3 * testTimeoutMs }, async () => {
    const page = foundPage({
      title: "Rules of the work queue",
      run: "test/unit/queue/simulator/mutations.test.ts",
      about: "[What the stories are](../work-queue.md#the-proof)",
      found: await Promise.all(takenOut.map(find)),
    });
    await expect(page).toMatchFileSnapshot("../../../../docs/simulator/queue.md");
  });
});
