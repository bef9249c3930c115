import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { StateFolder } from "./state-folder.ts";

const Ports = z.object({
  api: z.int().min(1).max(65_535).optional(),
  receiver: z.int().min(1).max(65_535).optional(),
  registry: z.int().min(1).max(65_535).optional(),
});
export type Ports = z.infer<typeof Ports>;

/**
 * The port to start a server on: the given one, else that of the last start, else 0 for a free port. If the port of the
 * last start is taken, the start fails: kubeconfigs and the URLs of sources name that port.
 */
export function portToTake(asked: number | undefined, last: number | undefined): number {
  return asked ?? last ?? 0;
}

export async function readPorts({ path }: Pick<StateFolder, "path">): Promise<Ports> {
  try {
    return Ports.parse(JSON.parse(await readFile(join(path, "ports.json"), "utf8")));
  } catch {
    // Missing at the first start; a damaged file counts as missing.
    return {};
  }
}

export async function writePorts({ path }: Pick<StateFolder, "path">, ports: Ports): Promise<void> {
  await writeFile(join(path, "ports.json"), `${JSON.stringify(ports)}\n`);
}
