import type { Edges } from "../../lib/core/ports/edges.ts";
import { formatWorkKey, parseWorkKey } from "../../lib/core/work-key.ts";
import { textColumn } from "./columns.ts";
import type { StateDatabase } from "./state-database.ts";

export function sqliteEdges({ connection, fenced }: StateDatabase): Edges {
  const selectWhats = connection.prepare("SELECT what FROM edges WHERE key = ?");
  const insert = connection.prepare("INSERT INTO edges (what, key) VALUES (?, ?)");
  const remove = connection.prepare("DELETE FROM edges WHERE what = ? AND key = ?");
  const selectKeys = connection.prepare("SELECT key FROM edges WHERE what = ? ORDER BY key");
  return {
    async listen(whats, fence, signal) {
      signal.throwIfAborted();
      const text = formatWorkKey(fence.key);
      const before = new Set(selectWhats.all(text).map((row) => textColumn(row, "what")));
      const after = new Set(whats);
      const removed = [...before].filter((what) => !after.has(what));
      const added = [...after].filter((what) => !before.has(what));
      // Nearly every run listens to what it listened to before.
      if (removed.length + added.length === 0) return;
      fenced(fence, () => {
        for (const what of removed) remove.run(what, text);
        for (const what of added) insert.run(what, text);
      });
    },
    async listeners(what, signal) {
      signal.throwIfAborted();
      return selectKeys.all(what).map((row) => parseWorkKey(textColumn(row, "key")));
    },
  };
}
