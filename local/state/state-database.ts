import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Fence, LeaseLost } from "../../lib/core/ports/fence.ts";
import { holdsLease } from "../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { parseStoredWorkItem } from "../../lib/queue/stored-work-item.ts";
import { checkWhole } from "../check-whole.ts";
import { DatabaseInFolder } from "../disk-full.ts";
import { textColumn } from "./columns.ts";
import { addedColumns, schema } from "./schema.ts";

/** How long a reader waits for a writer to commit. */
const busyMs = 5_000;

/** The one connection that all stores share. What it does is synchronous, so a transaction is never interleaved. */
export interface StateDatabase {
  readonly connection: DatabaseSync;
  /** All of it or, where it throws, nothing. */
  readonly transaction: <Result>(work: () => Result) => Result;
  /** A transaction that first checks that `fence` still holds the object's lease; throws {@link LeaseLost} where it does not. */
  readonly fenced: <Result>(fence: Fence, work: () => Result) => Result;
  close(): void;
}

/**
 * Opens the state file, made where it is missing. A process that is killed leaves the last commit. Throws where the file
 * is damaged or no database, and a `DiskFull` here and later where there is no room for a write.
 */
export function openStateDatabase(file: string): StateDatabase {
  const connection = new DatabaseInFolder(file, dirname(file));
  try {
    // NORMAL: a killed process loses nothing; a power cut may lose the latest commits, which a level-based run makes good.
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

/** Opens the state file of a Sluice that may be at work, to read it: nothing is written, nor can be. */
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
          throw new LeaseLost(`lease ${fence.token} of ${key} is not held any more`);
        }
        return work();
      }),
    close: () => connection.close(),
  };
}
