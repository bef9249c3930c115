import { DatabaseSync, type StatementSync } from "node:sqlite";

/** A write failed because the disk is full. It succeeds once there is room, without a restart. */
export class DiskFull extends Error {
  override readonly name = "DiskFull";

  /** @param folder on the disk that is full, absolute */
  constructor(folder: string, options: ErrorOptions) {
    super(`the disk of the folder ${folder} is full. Make room there`, options);
  }
}

/** The error of a write into `folder`; a {@link DiskFull} if the disk, or the user's quota on it, is full. */
export function namingFullDisk(error: unknown, folder: string): unknown {
  if (error instanceof DiskFull || !(error instanceof Error)) return error;
  const isFull =
    ("code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT")) ||
    ("errcode" in error && sqliteFull.has(error.errcode));
  return isFull ? new DiskFull(folder, { cause: error }) : error;
}

/** SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: no room for the index of the write-ahead log, which opening a database writes first. */
const sqliteFull: ReadonlySet<unknown> = new Set([13, 4_874]);

/** A database that throws a {@link DiskFull} with the name of its folder if the disk is full. */
export class DatabaseInFolder extends DatabaseSync {
  readonly #folder: string;

  constructor(file: string, folder: string) {
    super(file);
    this.#folder = folder;
  }

  override exec(sql: string): void {
    naming(this.#folder, () => super.exec(sql));
  }

  override prepare(sql: string): StatementSync {
    const folder = this.#folder;
    return new Proxy(super.prepare(sql), {
      get(statement, name) {
        const member: unknown = Reflect.get(statement, name);
        if (typeof member !== "function") return member;
        return (...values: readonly unknown[]) =>
          naming<unknown>(folder, () => Reflect.apply(member, statement, values));
      },
    });
  }
}

function naming<Result>(folder: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw namingFullDisk(error, folder);
  }
}
