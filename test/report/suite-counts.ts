import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";

const Assertion = z.object({
  fullName: z.string(),
  status: z.string(),
  failureMessages: z.array(z.string()).optional(),
});
const File = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string().optional(),
  assertionResults: z.array(Assertion),
  failedOnce: z.array(z.string()).exactOptional(),
});
/** What is read of a report that `json-with-differences.ts` has written. */
export const VitestReport = z.object({
  testResults: z.array(File),
  /** Errors that belong to no test. */
  stray: z.array(z.string()).exactOptional(),
});
export type VitestReport = z.infer<typeof VitestReport>;

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export interface Summary {
  /** By suite: the folder under test/ that a file lies in, or the package whose test it is; in alphabetical order. */
  readonly suites: ReadonlyMap<string, Counts>;
  readonly total: Counts;
  /** Full names of tests that were not run. */
  readonly skipped: readonly string[];
  /** Full names of tests that failed, each followed by the lines of its reason that say most. */
  readonly failures: readonly string[];
  /** The same for tests that failed beside others and passed by themselves. */
  readonly failedOnce: readonly string[];
}

const shownLines = 45;

/** A reason in the lines that a log has room for: without colours, and without the stack below it. */
const shortReason = (reason: string): string =>
  stripVTControlCharacters(reason)
    .split("\n")
    .filter((line) => !/^\s+at /.test(line))
    .slice(0, shownLines)
    .map((line) => `    ${line.slice(0, 300)}`)
    .join("\n");

/** Counts the tests that were run; each file may be in one report only. A file that could not be loaded counts as one failed test: its tests are unknown. */
export function suiteCounts({ testResults }: VitestReport, testFolder: string): Summary {
  const suites = new Map<string, Counts>();
  const skipped: string[] = [];
  const failures: string[] = [];
  const twice = testResults.find(({ name }, index) => testResults.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new Error(`${twice.name} was run twice, and would be counted twice`);
  for (const { name, status, message, assertionResults } of testResults.toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const file = relative(testFolder, name);
    const suite = /^\.\.\/(?:packages\/)?([^/]+)/.exec(file)?.[1] ?? file.split("/", 1)[0] ?? file;
    const before = suites.get(suite) ?? { passed: 0, failed: 0 };
    const of = (wanted: string): number => assertionResults.filter((result) => result.status === wanted).length;
    const failed = of("failed") === 0 && status === "failed" ? 1 : of("failed");
    suites.set(suite, { passed: before.passed + of("passed"), failed: before.failed + failed });
    for (const result of assertionResults) {
      if (!["passed", "failed"].includes(result.status)) skipped.push(`${file}: ${result.fullName}`);
      if (result.status !== "failed") continue;
      failures.push(`${file}: ${result.fullName}\n${shortReason(result.failureMessages?.join("\n") ?? "")}`);
    }
    if (of("failed") === 0 && status === "failed") failures.push(`${file}\n${shortReason(message ?? "")}`);
  }
  const failedOnce = testResults.flatMap((file) => file.failedOnce ?? []);
  const counts = [...suites.values()];
  const sorted = new Map([...suites].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const sum = (field: keyof Counts): number => counts.reduce((all, count) => all + count[field], 0);
  return { suites: sorted, total: { passed: sum("passed"), failed: sum("failed") }, skipped, failures, failedOnce };
}
