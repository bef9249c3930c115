import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

/** What a run of `npm run faults` is asked for. */
export interface Asked {
  readonly all: boolean;
  readonly files: readonly string[];
  readonly what: string | undefined;
  readonly since: string | undefined;
  /** At most so many of the faults that nothing names, spread evenly over their list. */
  readonly most: number;
  /** The tests have just passed without a fault, as in the gate, and are not run so first. */
  readonly tested: boolean;
  readonly jobs: number;
}

export const usage =
  "usage: npm run faults [-- [--all] [--file PATH]... [-t WORDS] [--since COMMIT] [--most NUMBER] [--tested] [--jobs NUMBER]], see docs/maintainers/testing.md";

/** @throws Error with the reason where the arguments are no good */
export function readArguments(args: readonly string[]): Asked | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      all: { type: "boolean", default: false },
      file: { type: "string", multiple: true, default: [] },
      what: { type: "string", short: "t" },
      since: { type: "string" },
      most: { type: "string" },
      tested: { type: "boolean", default: false },
      jobs: { type: "string", default: String(availableParallelism()) },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const { all, file: files, what, since, tested } = values;
  const numberOf = (name: "jobs" | "most", text: string): number => {
    if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${name}: a whole number from 1 on`);
    return Number(text);
  };
  const most = values.most === undefined ? Number.POSITIVE_INFINITY : numberOf("most", values.most);
  return { all, files, what, since, most, tested, jobs: numberOf("jobs", values.jobs) };
}
