import type { ObservedResources } from "../../lib/core/ports/observed-resources.ts";
import { formatWorkKey, parseWorkKey } from "../../lib/core/work-key.ts";
import { type StateDatabase, textColumn } from "./state-database.ts";

export function sqliteObservedResources({ connection }: StateDatabase): ObservedResources {
  const select = connection.prepare("SELECT sighting FROM sightings WHERE key = ?");
  const put = connection.prepare("INSERT OR REPLACE INTO sightings (key, sighting) VALUES (?, ?)");
  const remove = connection.prepare("DELETE FROM sightings WHERE key = ?");
  // A slash ends each part of a key and "0" is the character after it, so this is exactly the keys of one kind.
  const selectKind = connection.prepare(
    "SELECT key, sighting FROM sightings WHERE key >= ?1 || '/' AND key < ?1 || '0' ORDER BY key",
  );
  return {
    async get(key, signal) {
      signal.throwIfAborted();
      const row = select.get(formatWorkKey(key));
      return row === undefined ? undefined : textColumn(row, "sighting");
    },
    async put(key, summary, signal) {
      signal.throwIfAborted();
      put.run(formatWorkKey(key), summary);
    },
    async remove(key, signal) {
      signal.throwIfAborted();
      remove.run(formatWorkKey(key));
    },
    async list({ cluster, group, kind }, signal) {
      signal.throwIfAborted();
      return selectKind
        .all(`${cluster}/${group}/${kind}`)
        .map((row) => ({ key: parseWorkKey(textColumn(row, "key")), summary: textColumn(row, "sighting") }));
    },
  };
}
