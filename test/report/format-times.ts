import { relative } from "node:path";
import { z } from "zod";

const TimedFile = z.object({
  name: z.string(),
  /** Milliseconds since 1970. */
  startTime: z.number(),
  endTime: z.number(),
  assertionResults: z.array(z.unknown()),
});
type TimedFile = z.infer<typeof TimedFile>;

/** What is read of vitest's JSON report about times. */
export const TimedReport = z.object({ testResults: z.array(TimedFile) });

const shownFiles = 20;

interface Row {
  readonly name: string;
  readonly seconds: number;
  readonly tests: number;
}

/** The slowest files, and the sum of each layer: seconds from start to end, with what ran beside them. */
export function formatTimes(results: readonly TimedFile[], root: string): string {
  const files = results.map(
    ({ name, startTime, endTime, assertionResults }): Row => ({
      name: relative(root, name),
      // A file without a test that ran has no times.
      seconds: Math.max(0, endTime - startTime) / 1_000 || 0,
      tests: assertionResults.length,
    }),
  );
  const layers = [...Map.groupBy(files, ({ name }) => layerOf(name))].map(([name, rows]): Row => sum(name, rows));
  const slowest = (rows: readonly Row[]): readonly Row[] => rows.toSorted((a, b) => b.seconds - a.seconds);
  return [
    "   seconds   tests  file",
    ...slowest(files).slice(0, shownFiles).map(formatRow),
    "",
    "   seconds   tests  layer",
    ...slowest(layers).map(formatRow),
    formatRow(sum("all", files)),
    "",
  ].join("\n");
}

/** The folder under test/, or the package whose test it is. */
function layerOf(file: string): string {
  const [top = "", second = ""] = file.split("/");
  return top === "test" || top === "packages" ? `${top}/${second}` : top;
}

const sum = (name: string, rows: readonly Row[]): Row => ({
  name,
  seconds: rows.reduce((all, { seconds }) => all + seconds, 0),
  tests: rows.reduce((all, { tests }) => all + tests, 0),
});

const formatRow = ({ name, seconds, tests }: Row): string =>
  `${seconds.toFixed(1).padStart(10)} ${String(tests).padStart(7)}  ${name}`;
