import { glob, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { readClaims, tableFaults, unclaimedTitles, unprovenClaims } from "./claims.ts";

export interface ToClaims {
  /** The folder of the tests. */
  readonly tests: string;
  readonly document: string;
  readonly write: (text: string) => void;
  /** Called once if something is wrong. */
  readonly fail: () => void;
}

/**
 * A reporter that compares what docs/maintainers/conformance.md claims with the titles of the tests of this run. For a run of some of
 * the tests it only checks that they name no statements that are not claimed. A test that was skipped because its part is missing
 * counts here, but not in CI (`check-claims.ts`), which has every part.
 */
export function tellClaims({ tests, document, write, fail }: ToClaims): Reporter {
  let isFiltered = false;
  return {
    onInit({ config }) {
      isFiltered = config.testNamePattern !== undefined;
    },
    async onTestRunEnd(modules) {
      const claims = readClaims(await readFile(document, "utf8"));
      const passed = titlesOf(modules, tests, ["passed"]);
      const isWhole = !isFiltered && (await ranAll(modules, tests));
      const unproven = isWhole ? unprovenClaims(claims, titlesOf(modules, tests, ["passed", "skipped"])) : [];
      const faults = [...tableFaults(claims), ...unproven, ...unclaimedTitles(claims, passed)];
      if (faults.length === 0) return;
      write(`\n${faults.map((fault) => `docs/maintainers/conformance.md: ${fault}\n`).join("")}`);
      fail();
    },
  };
}

function titlesOf(modules: readonly TestModule[], tests: string, states: readonly string[]) {
  return modules.flatMap(({ children, moduleId }) =>
    [...children.allTests()]
      .filter((test) => states.includes(test.result().state) && test.options.mode !== "todo")
      .map((test) => ({ file: relative(tests, moduleId), title: test.fullName.replaceAll(" > ", " ") })),
  );
}

async function ranAll(modules: readonly TestModule[], tests: string): Promise<boolean> {
  const ran = new Set(modules.map(({ moduleId }) => moduleId));
  for await (const path of glob("**/*.test.ts", { cwd: tests })) if (!ran.has(join(tests, path))) return false;
  return true;
}
