import { rm } from "node:fs/promises";
import { partFolder } from "./folders.ts";
import type { PartName } from "./part.ts";
import { readPidFiles } from "./pid-file.ts";
import { stopProcesses } from "./stop-processes.ts";

/** Ends a part's processes and deletes its data and logs; does nothing if it is not up. */
export async function stopPart(part: PartName, signal: AbortSignal): Promise<void> {
  const folder = partFolder(part);
  await stopProcesses(readPidFiles(folder), signal);
  await rm(folder, { recursive: true, force: true });
}
