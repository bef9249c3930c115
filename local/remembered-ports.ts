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
 * Starts a server on the port that was asked for. Where any free one will do, that of the last time is taken if it is
 * free still, so that kubeconfigs and the URLs of sources keep working over a restart.
 */
export async function startOnPort<Server>(
  wanted: number,
  last: number | undefined,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  if (wanted !== 0 || last === undefined) return start(wanted);
  try {
    return await start(last);
  } catch {
    return start(0);
  }
}

export async function readPorts({ path }: Pick<StateFolder, "path">): Promise<Ports> {
  try {
    return Ports.parse(JSON.parse(await readFile(join(path, "ports.json"), "utf8")));
  } catch {
    // Missing the first time, and worth nothing where it is damaged.
    return {};
  }
}

export async function writePorts({ path }: Pick<StateFolder, "path">, ports: Ports): Promise<void> {
  await writeFile(join(path, "ports.json"), `${JSON.stringify(ports)}\n`);
}
