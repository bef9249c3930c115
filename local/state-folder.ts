import { randomBytes } from "node:crypto";
import { chmod, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { Secret } from "../lib/core/secret.ts";
import { DiskFull } from "./disk-full.ts";
import { type FolderLock, lockFolder } from "./lock-folder.ts";
import { makeFolder } from "./make-folder.ts";
import { removeForgottenArtifacts, removeUnfinishedArtifacts } from "./state/artifact-files.ts";
import { recordedDigests } from "./state/artifact-records.ts";
import { openStateDatabase, type StateDatabase } from "./state/state-database.ts";

/** Raised with every change to what the folder holds that an older Sluice could not read. */
const layoutVersion = 1;
const lockWaitMs = 3_000;
/** What may be there before the version is: a start that was killed leaves them. */
const lockFiles = /^(lock\.|layout\.)/;

/** Everything that `sluice local` keeps, in one folder that only its user may read. */
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
 * Opens a state folder, made where it is missing, and locks it for the life of the process. Throws one clear error where
 * it cannot be written, is used by another process, comes from a newer Sluice, is damaged or holds something else.
 */
export async function openStateFolder(folder: string, clock: Clock, signal: AbortSignal): Promise<StateFolder> {
  const path = resolve(folder);
  await writable(path, async () => {
    await makeFolder(path);
    await checkLayout(path);
    // Its files hold what clusters and registries hold, and the credentials of the embedded ones.
    await chmod(path, 0o700);
  });
  const lock = await writable(path, () => lockFolder(path, lockWaitMs, clock, signal));
  try {
    return await openLocked(path, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openLocked(path: string, lock: FolderLock): Promise<StateFolder> {
  const layout = await checkLayout(path);
  const artifacts = join(path, "artifacts");
  await removeUnfinishedArtifacts(artifacts);
  // Earlier versions unpacked artifacts there.
  await rm(join(path, "work"), { recursive: true, force: true });
  const installationKey = await writable(path, () => installationKeyIn(path, layout));
  if (layout === undefined) await writable(path, () => writeWhole(path, "layout", `${layoutVersion}\n`));
  const database = openDatabase(path);
  try {
    await writable(path, () => removeForgottenArtifacts(artifacts, recordedDigests(database)));
  } catch (error) {
    database.close();
    throw error;
  }
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

/** The layout that the folder has, undefined for a new one. */
async function checkLayout(path: string): Promise<number | undefined> {
  const names = await readdir(path);
  if (!names.includes("layout")) {
    const others = names.filter((name) => !lockFiles.test(name) && name !== "installation-key");
    if (others.length === 0) return undefined;
    throw new StateFolderError(
      `${path} is not empty and no state folder of Sluice: it holds ${others[0]}. Choose another folder with --state`,
    );
  }
  const text = (await readFile(join(path, "layout"), "utf8")).trim();
  if (!/^[0-9]{1,9}$/.test(text)) throw damaged(path, "its file layout holds no number");
  const version = Number(text);
  if (version > layoutVersion) {
    throw new StateFolderError(
      `the state folder ${path} was written by a newer Sluice (layout ${version}, this one knows ${layoutVersion}). ` +
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

/** What makes a folder an installation of its own, also while it is in use. Throws where it is no state folder of Sluice. */
export async function identityOf(folder: string): Promise<Pick<StateFolder, "path" | "installationKey">> {
  const path = resolve(folder);
  const layout = await checkLayout(path).catch((error: unknown) => {
    if (error instanceof StateFolderError) throw error;
    return undefined;
  });
  if (layout === undefined) throw new StateFolderError(`${path} is no state folder of Sluice`);
  return { path, installationKey: await installationKeyIn(path, layout) };
}

async function installationKeyIn(path: string, layout: number | undefined): Promise<Secret> {
  const name = "installation-key";
  if (layout === undefined) await writeWhole(path, name, `${randomBytes(32).toString("hex")}\n`);
  const text = (await readFile(join(path, name), "utf8").catch(() => "")).trim();
  // A new key would make every Secret in the inventories look changed; that is for its user to decide.
  if (!/^[0-9a-f]{64}$/.test(text)) throw damaged(path, `its file ${name} holds no key`);
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
    `the state folder ${path} is damaged: ${why}. Restore it, or remove it to start anew with what the clusters hold`,
    { cause },
  );
}

function mendOf(code: string): string {
  if (["EACCES", "EPERM", "EROFS"].includes(code)) return "Make it writable, or ";
  return ["ENOSPC", "EDQUOT"].includes(code) ? "Make room, or " : "Mend that, or ";
}

/** Says which folder could not be written where the system only says which call failed. */
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
