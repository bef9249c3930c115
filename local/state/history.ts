import { z } from "zod";
import type { History } from "../../lib/core/ports/history.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { textColumn } from "./columns.ts";
import type { StateDatabase } from "./state-database.ts";

/** Records kept of one object: the newest. */
const maxRecords = 100;

const StoredRecord = z.strictObject({
  at: z.number(),
  revision: z.string(),
  outcome: z.string(),
  durationMs: z.number(),
  created: z.number(),
  configured: z.number(),
  unchanged: z.number(),
  deleted: z.number(),
});

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
      return rows.map((row) => StoredRecord.parse(JSON.parse(textColumn(row, "record"))));
    },
  };
}
