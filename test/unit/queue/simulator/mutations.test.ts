import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { driverTakenOut } from "./driver-taken-out.ts";
import { firstFailures, foundPage } from "./found-page.ts";
import { rulesTakenOut } from "./rules-taken-out.ts";
import { simulate } from "./simulate.ts";

const takenOut = [...rulesTakenOut, ...driverTakenOut];

const page = join(import.meta.dirname, "../../../../docs/maintainers/simulator/queue.md");

describe("the simulator notices every protocol rule that is removed", () => {
  const find = firstFailures(simulate, page);
  test.for(takenOut)("$rule", async (taken) => {
    expect(await find(taken)).toBeDefined();
  });

  test("docs/maintainers/simulator/queue.md lists the seed for each rule: vitest -u writes it", async () => {
    const found = foundPage({
      title: "Rules of the work queue",
      run: "test/unit/queue/simulator/mutations.test.ts",
      about: "[What the stories are](../work-queue.md#the-proof)",
      found: await Promise.all(takenOut.map(find)),
    });
    await expect(found).toMatchFileSnapshot(page);
  });
});
