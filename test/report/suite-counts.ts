import { z } from "zod";

const Assertion = z.object({ fullName: z.string(), status: z.string() });
const File = z.object({ name: z.string(), status: z.string(), assertionResults: z.array(Assertion) });
/** What vitest's JSON reporter writes, as far as it is counted here. */
export const VitestReport = z.object({ testResults: z.array(File) });

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export interface Summary {
  /** By suite: the folder under test/ that a file lies in, in alphabetical order. */
  readonly suites: ReadonlyMap<string, Counts>;
  readonly total: Counts;
  /** Full names of tests that were not run. */
  readonly skipped: readonly string[];
}

/** Counts what was run, each file once or not at all. A file that could not be loaded counts as one failed test: its tests are unknown. */
export function suiteCounts({ testResults }: z.infer<typeof VitestReport>, testFolder: string): Summary {
  const suites = new Map<string, Counts>();
  const skipped: string[] = [];
  const twice = testResults.find(({ name }, index) => testResults.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new Error(`${twice.name} was run twice, and would be counted twice`);
  for (const { name, status, assertionResults } of testResults.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = name.slice(testFolder.length + 1);
    const suite = file.split("/", 1)[0] ?? file;
    const before = suites.get(suite) ?? { passed: 0, failed: 0 };
    const of = (wanted: string): number => assertionResults.filter((result) => result.status === wanted).length;
    const failed = of("failed") === 0 && status === "failed" ? 1 : of("failed");
    suites.set(suite, { passed: before.passed + of("passed"), failed: before.failed + failed });
    for (const result of assertionResults) {
      if (!["passed", "failed"].includes(result.status)) skipped.push(`${file}: ${result.fullName}`);
    }
  }
  const counts = [...suites.values()];
  const sum = (field: keyof Counts): number => counts.reduce((all, count) => all + count[field], 0);
  return { suites, total: { passed: sum("passed"), failed: sum("failed") }, skipped };
}
