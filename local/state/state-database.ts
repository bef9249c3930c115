import { dirname } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { type Fence, LeaseLost } from "../../lib/core/ports/fence.ts";
import { holdsLease } from "../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { parseStoredWorkItem } from "../../lib/queue/stored-work-item.ts";
import { DatabaseInFolder } from "./disk-full.ts";
import { addedColumns, schema } from "./schema.ts";

/** How long a reader waits for a writer to commit. */
const busyMs = 5_000;

/** The one connection that all stores share. Its calls are synchronous, so transactions are never interleaved. */
export interface StateDatabase {
  readonly connection: DatabaseSync;
  /** Commits everything that `work` writes, or nothing if it throws. */
  readonly transaction: <Result>(work: () => Result) => Result;
  /** A transaction that first checks that `fence` still holds the object's lease, and throws {@link LeaseLost} if not. */
  readonly fenced: <Result>(fence: Fence, work: () => Result) => Result;
  close(): void;
}

/**
 * Opens the state file, or creates it. A killed process leaves the last commit. Throws if the file is damaged or not a database,
 * and a `DiskFull` now or later if there is no room for a write.
 */
export function openStateDatabase(file: string): StateDatabase {
  const connection = new DatabaseInFolder(file, dirname(file));
  try {
    // NORMAL: a killed process loses nothing; a power cut may lose the latest commits, which later runs repair.
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000");
    checkWhole(connection);
    connection.exec(schema);
    for (const added of addedColumns) addColumn(connection, added);
    return stateDatabase(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens the state file of a Sluice that may be running, only to read it. */
export function readStateDatabase(file: string): StateDatabase {
  const connection = new DatabaseSync(file, { readOnly: true, timeout: busyMs });
  try {
    return stateDatabase(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}

function addColumn(
  connection: DatabaseSync,
  { table, column, type }: { readonly table: string; readonly column: string; readonly type: string },
): void {
  const columns = connection.prepare(`PRAGMA table_info(${table})`).all();
  if (columns.some(({ name }) => name === column)) return;
  connection.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
}

function stateDatabase(connection: DatabaseSync): StateDatabase {
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  const rollback = connection.prepare("ROLLBACK");
  const holder = connection.prepare("SELECT item FROM work_items WHERE key = ?");
  const transaction = <Result>(work: () => Result): Result => {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      if (connection.isTransaction) rollback.run();
      throw error;
    }
  };
  return {
    connection,
    transaction,
    fenced: (fence, work) =>
      transaction(() => {
        const key = formatWorkKey(fence.key);
        const row = holder.get(key);
        if (!holdsLease(row === undefined ? undefined : parseStoredWorkItem(textColumn(row, "item"), key), fence)) {
          throw new LeaseLost(`lease ${fence.token} of ${key} is no longer held`);
        }
        return work();
      }),
    close: () => connection.close(),
  };
}

export type Row = Readonly<Record<string, SQLOutputValue>>;

/** A text column of a row. Throws if it is anything else: another program has changed the state file. */
export function textColumn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`the state's column ${column} is not text`);
  return value;
}

export function optionalTextColumn(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textColumn(row, column);
}

export function numberColumn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`the state's column ${column} is not a number`);
  return value;
}

export function bytesColumn(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new TypeError(`the state's column ${column} is not bytes`);
  return value;
}

/** Reads all of a database; throws, in SQLite's words on one line, where a page of it is damaged: better now than midway. */
export function checkWhole(connection: DatabaseSync): void {
  const found = connection.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw new Error(String(found).replaceAll("\n", " "));
}
