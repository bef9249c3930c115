import {
  maxReceiversOfPath,
  packEntry,
  pathDigest,
  type ReceiverIndex,
  unpackEntry,
} from "../../lib/core/ports/receiver-index.ts";
import { formatWorkKey, parseWorkKey } from "../../lib/core/work-key.ts";
import { bytesColumn, type StateDatabase, textColumn } from "./state-database.ts";

export function sqliteReceiverIndex({ connection, fenced }: StateDatabase): ReceiverIndex {
  const select = connection.prepare("SELECT 1 FROM receivers WHERE key = ? AND path_digest = ? AND entry = ?");
  const put = connection.prepare("INSERT OR REPLACE INTO receivers (key, path_digest, entry) VALUES (?, ?, ?)");
  const exists = connection.prepare("SELECT 1 FROM receivers WHERE key = ?");
  const remove = connection.prepare("DELETE FROM receivers WHERE key = ?");
  const find = connection.prepare(
    `SELECT key, entry FROM receivers WHERE path_digest = ? ORDER BY key LIMIT ${maxReceiversOfPath}`,
  );
  return {
    async save(path, entry, fence, signal) {
      signal.throwIfAborted();
      const row = [formatWorkKey(fence.key), pathDigest(path), packEntry(entry)] as const;
      if (select.get(...row) !== undefined) return;
      fenced(fence, () => put.run(...row));
    },
    async remove(fence, signal) {
      signal.throwIfAborted();
      const key = formatWorkKey(fence.key);
      if (exists.get(key) === undefined) return;
      fenced(fence, () => remove.run(key));
    },
    async find(path, signal) {
      signal.throwIfAborted();
      return find.all(pathDigest(path)).map((row) => ({
        key: parseWorkKey(textColumn(row, "key")),
        entry: unpackEntry(bytesColumn(row, "entry")),
      }));
    },
  };
}
