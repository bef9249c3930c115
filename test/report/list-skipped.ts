import type { Reporter, TestCase, TestSuite } from "vitest/node";

const mend = `npm run real -- up; eval "$(npm run --silent real -- env)"; npm test`;

/** A reporter that says after a run which suites were skipped because their part is missing, and how to get it. */
export function listSkipped(write: (text: string) => void): Reporter {
  let isFiltered = false;
  return {
    onInit({ config }) {
      // Then nearly everything is skipped, and not because a part is missing.
      isFiltered = config.testNamePattern !== undefined;
    },
    onTestRunEnd(modules) {
      if (isFiltered) return;
      const counts = new Map<string, number>();
      for (const { children, relativeModuleId } of modules) {
        for (const test of children.allTests("skipped")) {
          const line = `${relativeModuleId}: ${outermost(test).name}`;
          counts.set(line, (counts.get(line) ?? 0) + 1);
        }
      }
      if (counts.size === 0) return;
      const lines = [...counts].map(([line, count]) => `  ${line} (${count})\n`);
      write(`\nSkipped, most of them for want of a real part:\n${lines.join("")}To run them too: ${mend}\n`);
    },
  };
}

/** The suite whose condition a test shares. */
function outermost(test: TestCase | TestSuite): TestCase | TestSuite {
  return test.parent.type === "module" ? test : outermost(test.parent);
}
