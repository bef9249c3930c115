import { type History, HistoryRecord } from "../../lib/core/ports/history.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { type StateDatabase, textColumn } from "./state-database.ts";

/** The newest records of an object are kept, at most this many. */
const maxRecords = 100;

export function sqliteHistory({ connection, transaction }: StateDatabase): History {
  const insert = connection.prepare("INSERT INTO history (key, record) VALUES (?, ?)");
  const trim = connection.prepare(
    `DELETE FROM history WHERE key = ?1 AND position <=
       (SELECT position FROM history WHERE key = ?1 ORDER BY position DESC LIMIT 1 OFFSET ${maxRecords})`,
  );
  const select = connection.prepare("SELECT record FROM history WHERE key = ? ORDER BY position DESC LIMIT ?");
  return {
    async append(key, record, signal) {
      signal.throwIfAborted();
      const text = formatWorkKey(key);
      transaction(() => {
        insert.run(text, JSON.stringify(record));
        trim.run(text);
      });
    },
    async latest(key, limit, signal) {
      signal.throwIfAborted();
      const rows = select.all(formatWorkKey(key), limit);
      return rows.map((row) => HistoryRecord.parse(JSON.parse(textColumn(row, "record"))));
    },
  };
}
