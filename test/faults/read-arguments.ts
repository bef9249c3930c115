import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

/** What a run of `npm run faults` is asked for. */
export interface Asked {
  readonly all: boolean;
  readonly files: readonly string[];
  readonly what: string | undefined;
  readonly since: string | undefined;
  readonly jobs: number;
}

export const usage =
  "usage: npm run faults [-- [--all] [--file PATH]... [-t WORDS] [--since COMMIT] [--jobs NUMBER]], see docs/testing.md";

/** @throws Error with the reason where the arguments are no good */
export function readArguments(args: readonly string[]): Asked | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      all: { type: "boolean", default: false },
      file: { type: "string", multiple: true, default: [] },
      what: { type: "string", short: "t" },
      since: { type: "string" },
      jobs: { type: "string", default: String(availableParallelism()) },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const { all, file: files, what, since } = values;
  if (!/^[1-9]\d*$/.test(values.jobs)) throw new Error("--jobs: a whole number from 1 on");
  return { all, files, what, since, jobs: Number(values.jobs) };
}
