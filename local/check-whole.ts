import type { DatabaseSync } from "node:sqlite";

/** Reads all of a database; throws, in SQLite's words on one line, where a page of it is damaged: better now than midway. */
export function checkWhole(connection: DatabaseSync): void {
  const found = connection.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw new Error(String(found).replaceAll("\n", " "));
}
