import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../../lib/core/failure.ts";
import { checkWhole } from "../../check-whole.ts";
import { DatabaseInFolder, DiskFull, namingFullDisk } from "../../disk-full.ts";

const layoutVersion = 1;

/**
 * Opens `kubernetes.db` in the state folder, which is made where it is missing.
 *
 * With a write-ahead log and `synchronous = NORMAL` a commit has left the process when it returns, so a killed process
 * loses nothing that it acknowledged; only a power cut may take the last commits, never the file's consistency.
 *
 * @throws {Error} if the folder cannot be written, or the file is damaged or of a newer Sluice
 */
export function openDatabase(stateFolder: string): DatabaseSync {
  const file = join(stateFolder, "kubernetes.db");
  try {
    mkdirSync(stateFolder, { recursive: true });
    const database = new DatabaseInFolder(file, stateFolder);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000;");
    checkWhole(database);
    const found = database.prepare("PRAGMA user_version").get()?.["user_version"];
    if (typeof found === "number" && found > layoutVersion) {
      database.close();
      throw new Error(`it has layout ${found}, this Sluice knows ${layoutVersion}`);
    }
    database.exec(`
      CREATE TABLE IF NOT EXISTS objects (
        resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL,
        uid TEXT NOT NULL, labels TEXT NOT NULL, metadata TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (resource, namespace, name));
      CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      PRAGMA user_version = ${layoutVersion};`);
    return database;
  } catch (error) {
    const named = namingFullDisk(error, stateFolder);
    if (named instanceof DiskFull) throw named;
    throw new Error(
      `the embedded cluster cannot use ${file}: ${messageOf(error)}. Choose another --state folder, or remove this one to start anew`,
      { cause: error },
    );
  }
}
