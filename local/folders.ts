import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";

const SystemError = z.object({ code: z.string() });

/**
 * Makes a folder and its missing parents. Node's `mkdir` with `recursive` would loop forever, with a core at full load, on a
 * file system that answers ENOENT to every creation, such as /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = SystemError.safeParse(error).data?.code;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || (await exists(dirname(path)))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

const retryMs = 50;

export interface FolderLock {
  release(): void;
}

/**
 * Takes the operating system's lock on a folder: SQLite's exclusive lock on `lock.db`, which ends with the process, however
 * that ends. Throws after `waitMs` without the lock, with the names of the folder and of the process that holds it.
 */
export async function lockFolder(
  folder: string,
  waitMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<FolderLock> {
  const pidFile = join(folder, "lock.pid");
  const connection = new DatabaseSync(join(folder, "lock.db"), { timeout: 0 });
  try {
    const giveUpAt = clock.monotonic() + waitMs;
    while (!tryLock(connection)) {
      if (clock.monotonic() >= giveUpAt) throw new Error(await refusal(folder, pidFile));
      await clock.sleep(retryMs, signal);
    }
    // Only for the text of a refusal: on a full disk the lock holds without it.
    await writeFile(pidFile, `${process.pid}\n`).catch(() => undefined);
  } catch (error) {
    connection.close();
    throw error;
  }
  return { release: () => connection.close() };
}

function tryLock(connection: DatabaseSync): boolean {
  try {
    // Nothing is ever written; a journal on the disk would need room there.
    connection.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (messageOf(error).includes("locked")) return false;
    throw error;
  }
}

async function refusal(folder: string, pidFile: string): Promise<string> {
  const pid = (await readFile(pidFile, "utf8").catch(() => "")).trim();
  const holder = /^[0-9]+$/.test(pid) ? `process ${pid}` : "another process";
  return `the state folder ${folder} is in use by ${holder}. End it first, or choose another folder with --state`;
}
