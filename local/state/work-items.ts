import {
  type LeasedItems,
  overdueAt,
  overduePageSize,
  type WorkItem,
  type WorkItems,
} from "../../lib/core/ports/work-items.ts";
import { clusterOfText, formatWorkKey } from "../../lib/core/work-key.ts";
import { formatStoredWorkItem, listItems, parseStoredWorkItem } from "../../lib/queue/stored-work-item.ts";
import { numberColumn, type Row, type StateDatabase, textColumn } from "./state-database.ts";

export function sqliteWorkItems({ connection }: StateDatabase): WorkItems & LeasedItems {
  const select = connection.prepare("SELECT key, item FROM work_items WHERE key = ?");
  const insert = connection.prepare(
    "INSERT INTO work_items (key, version, leased, overdue_at, item) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const update = connection.prepare(
    "UPDATE work_items SET version = ?, leased = ?, overdue_at = ?, item = ? WHERE key = ? AND version = ?",
  );
  const selectOverdue = connection.prepare(
    `SELECT key, overdue_at, item FROM work_items
      WHERE overdue_at <= ? AND (overdue_at, key) > (?, ?) ORDER BY overdue_at, key LIMIT ${overduePageSize}`,
  );
  const selectLeased = connection.prepare("SELECT key, item FROM work_items WHERE leased = 1 ORDER BY key");

  const itemOf = (row: Row): WorkItem => parseStoredWorkItem(textColumn(row, "item"), textColumn(row, "key"));
  const store = (item: WorkItem): number | bigint => {
    const key = formatWorkKey(item.key);
    const leased = item.lease === undefined ? 0 : 1;
    const due = overdueAt(item) ?? null;
    const text = formatStoredWorkItem(item);
    const { changes } =
      item.version === 1
        ? insert.run(key, item.version, leased, due, text)
        : update.run(item.version, leased, due, text, key, item.version - 1);
    return changes;
  };

  return {
    async get(key, signal) {
      signal.throwIfAborted();
      const row = select.get(formatWorkKey(key));
      return row === undefined ? undefined : itemOf(row);
    },
    async put(item, signal) {
      signal.throwIfAborted();
      return Number(store(item)) === 1 ? "stored" : "conflict";
    },
    async *overdue(now, isWanted, signal) {
      const isRead = (row: Row): boolean => isWanted(clusterOfText(textColumn(row, "key")));
      let [at, key] = [Number.NEGATIVE_INFINITY, ""];
      for (;;) {
        signal.throwIfAborted();
        // By position: what a caller has changed meanwhile is neither passed twice nor moves others out of sight.
        const rows = selectOverdue.all(now, at, key);
        const last = rows.at(-1);
        if (last === undefined) return;
        [at, key] = [numberColumn(last, "overdue_at"), textColumn(last, "key")];
        yield listItems(rows.filter(isRead), itemOf);
        if (rows.length < overduePageSize) return;
      }
    },
    async leased(signal) {
      signal.throwIfAborted();
      return listItems(selectLeased.all(), itemOf);
    },
  };
}
