import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { cacheFolder, here } from "./folders.ts";
import type { Installation, PartName } from "./part.ts";
import { PartFailure } from "./part-failure.ts";
import { buildInto } from "./run-tool.ts";
import { versions } from "./versions.ts";

const marker = "installed.json";
/** Set if the installations belong to a checkout whose own parts run from them: they are not repaired. */
export const borrowed = "SLUICE_REAL_BORROWED";
/** Path and size of each file, when the installation was complete. */
const Contents = z.record(z.string(), z.int());

/** Answers the folder of a program, and installs it first if it is missing, damaged or of another version. */
export async function install(
  installation: Installation,
  part: PartName,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const { program } = installation;
  const folder = join(cacheFolder(), "installed", await keyOf(installation));
  const damage = await damageOf(folder);
  if (damage === undefined) return folder;
  if (process.env[borrowed] !== undefined) {
    throw new PartFailure(part, `${program} in the cache is ${damage}; it is another's: npm run real -- up ${part}`);
  }
  if (damage !== "missing") say(`${part}: ${program} in the cache is damaged (${damage}); installing it again`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  await requireSpace(dirname(folder), installation, part);

  const started = performance.now();
  say(`${part}: installing ${program} ${versions[program]}`);
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished);
  const log = join(cacheFolder(), `install-${program}.log`);
  await writeFile(log, "");
  await installation.install(unfinished, buildInto(log, part, signal));
  await writeFile(join(unfinished, marker), JSON.stringify(await contentsOf(unfinished)));
  await rename(unfinished, folder);
  await removeOthers(program, folder);
  say(`${part}: installed ${program} in ${Math.round((performance.now() - started) / 1_000)} s`);
  return folder;
}

async function keyOf({ program, locks }: Installation): Promise<string> {
  const hash = createHash("sha256");
  for (const lock of locks) hash.update(await readFile(join(here, lock)));
  return `${program}-${versions[program]}-${hash.digest("hex").slice(0, 12)}`;
}

/** Undefined if the folder holds what was installed there; sizes only, since hashing half a gigabyte is not instant. */
async function damageOf(folder: string): Promise<string | undefined> {
  let contents: z.infer<typeof Contents>;
  try {
    contents = Contents.parse(JSON.parse(await readFile(join(folder, marker), "utf8")));
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "missing" : `${marker} is unreadable`;
  }
  for (const [path, size] of Object.entries(contents)) {
    const found = await stat(join(folder, path)).catch(() => undefined);
    if (found?.size !== size) return `${path} has ${found?.size ?? "no"} bytes and should have ${size}`;
  }
  return undefined;
}

async function contentsOf(folder: string): Promise<z.infer<typeof Contents>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  // Python may rewrite its compiled files.
  const lasting = entries.filter((entry) => entry.isFile() && !entry.parentPath.endsWith("__pycache__"));
  const files = lasting.map((entry) => join(entry.parentPath, entry.name));
  const sizeOf = async (path: string) => [path.slice(folder.length + 1), (await stat(path)).size] as const;
  return Object.fromEntries(await Promise.all(files.map(sizeOf)));
}

async function requireSpace(folder: string, { program, needsMegabytes }: Installation, part: PartName): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const freeMegabytes = Math.floor((bavail * bsize) / 1_048_576);
  if (freeMegabytes < needsMegabytes) {
    const disk = `the disk of ${folder} has ${freeMegabytes} MB left`;
    throw new PartFailure(part, `${disk}, and installing ${program} takes up to ${needsMegabytes} MB. Make room`);
  }
}

/** Older versions: nothing in this checkout uses them any longer. */
async function removeOthers(program: string, folder: string): Promise<void> {
  for (const name of await readdir(dirname(folder))) {
    const path = join(dirname(folder), name);
    const isOther = new RegExp(`^${program}-[0-9.]+-`).test(name) && path !== folder;
    if (isOther) await rm(path, { recursive: true, force: true });
  }
}
