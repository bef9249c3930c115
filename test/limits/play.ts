import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { keyOf, type WorstInput } from "./worst-input.ts";

const Cost = z.object({ blockedMs: z.number(), grownMiB: z.number(), slowness: z.number() });

/** What reading an input cost, on the reference machine. */
export interface PlayedCost {
  readonly blockedMs: number;
  readonly grownMiB: number;
}

/**
 * Plays a worst input in a process of its own, so that neither other tests nor earlier inputs count.
 *
 * @param list the module in this folder that exports it: `readers/git.ts`
 */
export async function play(input: WorstInput, list = "readers.ts"): Promise<PlayedCost> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--expose-gc",
    join(import.meta.dirname, "measure.ts"),
    keyOf(input),
    list,
  ]);
  const { blockedMs, grownMiB, slowness } = Cost.parse(JSON.parse(stdout));
  return { blockedMs: blockedMs / slowness, grownMiB };
}
