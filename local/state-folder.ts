import { randomBytes } from "node:crypto";
import { chmod, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import { judgeLayout, type Layout, upgradeLayout } from "../lib/core/layout.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { Secret } from "../lib/core/secret.ts";
import { type FolderLock, lockFolder, makeFolder } from "./folders.ts";
import { removeUnfinishedArtifacts } from "./state/artifact-files.ts";
import { DiskFull } from "./state/disk-full.ts";
import { openStateDatabase, type StateDatabase } from "./state/state-database.ts";

/** Of this release. Upgrades are given the folder's path; columns that may be NULL need none, see `addedColumns`. */
const folderLayout: Layout<string> = { version: 1, upgrades: {} };
const lockWaitMs = 3_000;
/** Files that a start may leave that was killed before it wrote the version. */
const lockFiles = /^(lock\.|layout\.)/;
/** Everything that Sluice writes into a state folder, except for `layout`, `installation-key` and the files of the lock. */
const ownNames =
  /^((state|kubernetes)\.db(-wal|-shm|-journal)?|kubernetes-tokens\.json(\.new)?|kubeconfig|ports\.json|artifacts|registry|layout\..+\.unfinished)$/;

/** All state of `sluice local`, in one folder that only its user may read. */
export interface StateFolder {
  /** Absolute. */
  readonly path: string;
  readonly database: StateDatabase;
  readonly artifacts: string;
  readonly registry: string;
  readonly kubeconfig: string;
  /** Made with the folder; see `KustomizationDeps.installationKey`. */
  readonly installationKey: Secret;
  close(): void;
}

/**
 * Opens a state folder, creates it if it is missing, and locks it for the life of the process. Throws one clear error if it
 * cannot be written, is used by another process, comes from a newer Sluice, is damaged or has other content.
 */
export async function openStateFolder(
  folder: string,
  clock: Clock,
  signal: AbortSignal,
  own: Layout<string> = folderLayout,
): Promise<StateFolder> {
  const path = resolve(folder);
  await writable(path, async () => {
    await makeFolder(path);
    await checkLayout(path, own);
    // Its files hold the content of clusters and registries, and the credentials of the embedded ones.
    await chmod(path, 0o700);
  });
  const lock = await writable(path, () => lockFolder(path, lockWaitMs, clock, signal));
  try {
    return await openLocked(path, lock, own);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openLocked(path: string, lock: FolderLock, own: Layout<string>): Promise<StateFolder> {
  const layout = await checkLayout(path, own);
  const artifacts = join(path, "artifacts");
  await removeUnfinishedArtifacts(artifacts);
  // Earlier versions unpacked artifacts there.
  await rm(join(path, "work"), { recursive: true, force: true });
  const installationKey = await writable(path, () => installationKeyIn(path, layout));
  const reached = (version: number): Promise<void> => writable(path, () => writeWhole(path, "layout", `${version}\n`));
  if (layout === undefined) await reached(own.version);
  else await upgradeLayout(layout, own, path, reached);
  const database = openDatabase(path);
  return {
    path,
    database,
    artifacts,
    registry: join(path, "registry"),
    kubeconfig: join(path, "kubeconfig"),
    installationKey,
    close() {
      database.close();
      lock.release();
    },
  };
}

/** The version of the folder's layout, undefined for a new folder. */
async function checkLayout(path: string, own: Layout<string>): Promise<number | undefined> {
  const names = await readdir(path);
  if (!names.includes("layout")) {
    const others = names.filter((name) => !lockFiles.test(name) && name !== "installation-key");
    if (others.length === 0) return undefined;
    throw new StateFolderError(
      `${path} is not a state folder of Sluice: it is not empty and holds ${others[0]}. Choose another folder with --state`,
    );
  }
  const text = (await readFile(join(path, "layout"), "utf8")).trim();
  if (!/^[0-9]{1,9}$/.test(text)) throw damaged(path, "its file layout does not hold a number");
  const version = Number(text);
  if (judgeLayout(version, own) === "newer") {
    throw new StateFolderError(
      `the state folder ${path} was written by a newer Sluice (layout ${version}, this one knows ${own.version}). ` +
        "Use that one, or choose another folder with --state",
    );
  }
  return version;
}

function openDatabase(path: string): StateDatabase {
  try {
    return openStateDatabase(join(path, "state.db"));
  } catch (error) {
    if (error instanceof DiskFull) throw error;
    throw damaged(path, `state.db: ${messageOf(error)}`, error);
  }
}

export type Reset =
  | { readonly kind: "declined" }
  /** `left`: the names of the files and folders that Sluice did not write, which stay. */
  | { readonly kind: "removed"; readonly left: readonly string[] };

/**
 * Removes all that Sluice has written into a folder after `confirm` has agreed. The lock's own files stay, so that a process
 * that starts meanwhile waits for this one. The files that mark a state folder go last: a reset that was killed can be repeated.
 *
 * @throws Error if it is not a state folder of Sluice, or if a process uses it
 */
export async function resetStateFolder(
  folder: string,
  confirm: (path: string) => Promise<boolean>,
  { clock }: { readonly clock: Clock },
  signal: AbortSignal,
): Promise<Reset> {
  const path = resolve(folder);
  const before = await readdir(path).catch((): readonly string[] => []);
  // Other programs write a file `layout` too.
  const isMarked = before.includes("installation-key") || before.includes("state.db");
  if (!isMarked || (await checkLayout(path, folderLayout)) === undefined) throw notAStateFolder(path);
  const lock = await lockFolder(path, 0, clock, signal);
  try {
    if (!(await confirm(path))) return { kind: "declined" };
    const names = await readdir(path);
    // A folder with a key and without a layout is a new one to the next start.
    for (const name of [...names.filter((name) => ownNames.test(name)), "layout", "installation-key"]) {
      await rm(join(path, name), { recursive: true, force: true });
    }
    return {
      kind: "removed",
      left: (await readdir(path)).filter((name) => !/^lock\.(db(-journal)?|pid)$/.test(name)).toSorted(),
    };
  } finally {
    lock.release();
  }
}

function notAStateFolder(path: string): StateFolderError {
  return new StateFolderError(`${path} is not a state folder of Sluice`);
}

/** The path and key of a state folder, which may be in use. Throws if it is not a state folder of Sluice. */
export async function identityOf(folder: string): Promise<Pick<StateFolder, "path" | "installationKey">> {
  const path = resolve(folder);
  const layout = await checkLayout(path, folderLayout).catch((error: unknown) => {
    if (error instanceof StateFolderError) throw error;
    return undefined;
  });
  if (layout === undefined) throw notAStateFolder(path);
  return { path, installationKey: await installationKeyIn(path, layout) };
}

async function installationKeyIn(path: string, layout: number | undefined): Promise<Secret> {
  const name = "installation-key";
  if (layout === undefined) await writeWhole(path, name, `${randomBytes(32).toString("hex")}\n`);
  const text = (await readFile(join(path, name), "utf8").catch(() => "")).trim();
  // A new key would make every Secret in the inventories look changed: that is the user's decision.
  if (!/^[0-9a-f]{64}$/.test(text)) throw damaged(path, `its file ${name} does not hold an installation key`);
  return new Secret(text);
}

async function writeWhole(path: string, name: string, text: string): Promise<void> {
  const unfinished = join(path, `layout.${name}.unfinished`);
  await writeFile(unfinished, text, { mode: 0o600 });
  await rename(unfinished, join(path, name));
}

class StateFolderError extends Error {
  override readonly name = "StateFolderError";
}

function damaged(path: string, why: string, cause?: unknown): StateFolderError {
  return new StateFolderError(
    `the state folder ${path} is damaged: ${why}. Restore it, or remove it to start again from what the clusters hold`,
    { cause },
  );
}

function mendOf(code: string): string {
  if (["EACCES", "EPERM", "EROFS"].includes(code)) return "Make it writable, or ";
  return ["ENOSPC", "EDQUOT"].includes(code) ? "Make room, or " : "Fix this, or ";
}

/** Adds the folder to an error of the system, which only names the failed call. */
async function writable<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || !("syscall" in error || error.code === "ERR_SQLITE_ERROR")) {
      throw error;
    }
    throw new StateFolderError(
      `the state folder ${path} cannot be used: ${error.message}. ${mendOf(String(error.code))}choose another with --state`,
      { cause: error },
    );
  }
}
