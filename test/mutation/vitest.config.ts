import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The tests of a mutant end with the first failure, so the quick ones begin. */
class SimulatorLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): number => (moduleId.includes("/simulator/") ? 1 : 0);
    return files.toSorted((one, other) => isSlow(one) - isSlow(other) || one.moduleId.localeCompare(other.moduleId));
  }
}

/** The tests nearest to the mutated code: a mutant that only a story of the whole system notices counts as a survivor. */
export default defineConfig({
  test: {
    include: ["test/unit/{apply,queue}/**/*.test.ts", "test/unit/local/state/other-release.test.ts"],
    exclude: ["test/unit/queue/simulator/mutations.test.ts"],
    setupFiles: ["test/mutation/short-properties.ts"],
    isolate: false,
    pool: "threads",
    env: { SLUICE_SIM_SEEDS: "100" },
    sequence: { sequencer: SimulatorLast },
    testTimeout: 10_000,
    expect: { poll: { timeout: 3_000 } },
  },
});
