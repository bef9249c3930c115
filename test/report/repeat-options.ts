import { parseArgs } from "node:util";

/** What a run of `repeat-beside-load.ts` is asked for. */
export interface RepeatOptions {
  /** How often each file is run. */
  readonly times: number;
  /** How many processes compute without end meanwhile. */
  readonly burners: number;
  /** Prints the files instead of running them. */
  readonly list: boolean;
  readonly root: string | undefined;
  /** None: those that `filesThatStartProcesses` and vitest's project `real` have. */
  readonly files: readonly string[];
}

export const usage =
  "usage: node test/report/repeat-beside-load.ts [--times NUMBER] [--burners NUMBER] [--list] [--root FOLDER] [FILE...], see docs/maintainers/testing.md";

/** @throws Error with the reason where the arguments are no good */
export function readArguments(args: readonly string[]): RepeatOptions | "help" {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      times: { type: "string", default: "10" },
      burners: { type: "string", default: "2" },
      list: { type: "boolean", default: false },
      root: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const { times, burners, list, root } = values;
  if (!/^[1-9]\d*$/.test(times)) throw new Error("--times: a whole number from 1 on");
  if (!/^\d+$/.test(burners)) throw new Error("--burners: a whole number");
  return { times: Number(times), burners: Number(burners), list, root, files: positionals };
}
