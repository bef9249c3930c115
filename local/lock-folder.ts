import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";

const retryMs = 50;

export interface FolderLock {
  release(): void;
}

/**
 * Takes the operating system's lock on a folder: SQLite's exclusive lock on `lock.db`, held for the life of the process
 * and gone with it, however it ends. Throws once `waitMs` have passed without it, naming the folder and who has it.
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
    // Only for the words of a refusal, so a full disk is no reason to hold nobody's lock.
    await writeFile(pidFile, `${process.pid}\n`).catch(() => undefined);
  } catch (error) {
    connection.close();
    throw error;
  }
  return { release: () => connection.close() };
}

function tryLock(connection: DatabaseSync): boolean {
  try {
    // A journal on the disk would need room there, and nothing is ever written.
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
