import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../core/api-object.ts";

const layoutVersion = 1;

/** The state folder cannot be written, or its file is damaged or of a newer version; `cause` is what was thrown. */
export class UnusableState extends Error {
  override readonly name = "UnusableState";

  constructor(file: string, cause: unknown) {
    super(`the embedded cluster cannot use ${file}: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Opens `kubernetes.db` in the state folder, which is made where it is missing.
 *
 * With a write-ahead log and `synchronous = NORMAL` a commit has left the process when it returns, so a killed process
 * loses nothing that it acknowledged; only a power cut may take the last commits, never the file's consistency.
 *
 * @throws {UnusableState}
 */
export function openDatabase(stateFolder: string, open = (file: string) => new DatabaseSync(file)): DatabaseSync {
  const file = join(stateFolder, "kubernetes.db");
  try {
    mkdirSync(stateFolder, { recursive: true });
    const database = open(file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000;");
    checkWhole(database);
    const found = database.prepare("PRAGMA user_version").get()?.["user_version"];
    if (typeof found === "number" && found > layoutVersion) {
      database.close();
      throw new Error(`it has layout ${found}, and this version knows ${layoutVersion}`);
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
    throw new UnusableState(file, error);
  }
}

/** Reads all of a database; throws, in SQLite's words on one line, if a page of it is damaged: better now than midway. */
function checkWhole(database: DatabaseSync): void {
  const found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw new Error(String(found).replaceAll("\n", " "));
}
