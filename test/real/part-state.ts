import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { Addresses } from "./addresses.ts";
import { partFolder } from "./folders.ts";
import { logTail } from "./log-tail.ts";
import type { Part, PartName } from "./part.ts";
import { isAlive, readPidFiles } from "./pid-file.ts";

const Started = z.object({ addresses: Addresses, programs: z.array(z.string()) });
/** The file that is written once a part has answered: its addresses, and the folders of the programs that it runs. */
export type Started = z.infer<typeof Started>;

export type PartState =
  | { readonly kind: "down" }
  | { readonly kind: "up"; readonly started: Started }
  | { readonly kind: "broken"; readonly reason: string };

export async function writeStarted(part: PartName, started: Started): Promise<void> {
  await writeFile(join(partFolder(part), "started.json"), JSON.stringify(started));
}

/** Looks at a part's pid files, then asks it. */
export async function partState({ name, answers }: Part): Promise<PartState> {
  const folder = partFolder(name);
  const processes = readPidFiles(folder);
  if (processes.length === 0) return { kind: "down" };
  const dead = processes.find((process) => !isAlive(process));
  if (dead !== undefined) {
    const tail = await logTail(join(folder, `${dead.name}.log`));
    return { kind: "broken", reason: `${dead.name} has died. The end of its log:\n${tail}` };
  }
  const started = await readStarted(folder);
  if (started === undefined) return { kind: "broken", reason: "it was never started to the end" };
  if (await answers(started.addresses)) return { kind: "up", started };
  return { kind: "broken", reason: "its processes run and it does not answer" };
}

async function readStarted(folder: string): Promise<Started | undefined> {
  try {
    return Started.parse(JSON.parse(await readFile(join(folder, "started.json"), "utf8")));
  } catch {
    return undefined; // Missing or cut off: the start was interrupted.
  }
}
