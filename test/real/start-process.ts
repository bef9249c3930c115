import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { ProcessSpec } from "./part.ts";
import { writePidFile } from "./pid-file.ts";

const Spec = z.object({
  name: z.string(),
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).default({}),
});

/** Starts a process of a part, which outlives us. Its log, its pid file and its arguments are in its folder. */
export async function startProcessIn(folder: string, spec: ProcessSpec): Promise<void> {
  const { name, command, args, env = {} } = spec;
  await using log = await open(join(folder, `${name}.log`), "a");
  // Little of our own environment: a proxy or an account of the person who runs the tests must not reach the parts.
  const kept = Object.fromEntries(["PATH", "HOME", "JAVA_HOME"].map((key) => [key, process.env[key] ?? ""]));
  const stdio: ["ignore", number, number] = ["ignore", log.fd, log.fd];
  const child = spawn(command, args, { cwd: folder, env: { ...kept, ...env }, stdio, detached: true });
  await once(child, "spawn");
  if (child.pid !== undefined) writePidFile(folder, name, child.pid);
  child.unref();
  await writeFile(specFile(folder, name), JSON.stringify(spec));
}

/** Restarts a process that a test has killed, with the same arguments. */
export async function startProcessAgain(folder: string, name: string): Promise<void> {
  await startProcessIn(folder, Spec.parse(JSON.parse(await readFile(specFile(folder, name), "utf8"))));
}

const specFile = (folder: string, name: string): string => join(folder, `${name}.json`);
