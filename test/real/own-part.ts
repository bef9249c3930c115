import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { z } from "zod";
import { cacheFolder } from "./folders.ts";
import { borrowed } from "./install.ts";
import type { PartName } from "./part.ts";

interface Start {
  /** Of `up`. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A part of its own for one test, run from the installed programs: its addresses as `up --json` prints them. */
export async function ownPart<Addresses>(
  part: PartName,
  printed: z.ZodType<Addresses>,
  { flags = [], env: more = {} }: Start = {},
): Promise<Addresses & AsyncDisposable> {
  const cache = await mkdtemp(join(tmpdir(), `sluice-${part}-`));
  await symlink(join(cacheFolder(), "installed"), join(cache, "installed"));
  const real = async (...args: readonly string[]): Promise<string> => {
    const command = [join(import.meta.dirname, "main.ts"), ...args, part];
    const env = { ...process.env, ...more, SLUICE_REAL_CACHE: cache, [borrowed]: "true" };
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  };
  const down = async (): Promise<void> => {
    await real("down");
    await rm(cache, { recursive: true, force: true });
  };
  try {
    const addresses = printed.parse(JSON.parse(await real("up", "--json", ...flags)));
    return { ...addresses, [Symbol.asyncDispose]: down };
  } catch (error) {
    await down();
    throw error;
  }
}
