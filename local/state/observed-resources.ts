import type { ObservedResource, ObservedResources } from "../../lib/core/ports/observed-resources.ts";
import { formatWorkKey, parseWorkKey } from "../../lib/core/work-key.ts";
import { type StateDatabase, textColumn } from "./state-database.ts";

export function sqliteObservedResources({ connection }: StateDatabase): ObservedResources {
  const select = connection.prepare("SELECT sighting FROM sightings WHERE key = ?");
  const put = connection.prepare(
    "INSERT INTO sightings (key, sighting) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET sighting = ?2",
  );
  // A row that is only a mark has an empty summary, which no object has.
  const mark = connection.prepare(
    `INSERT INTO sightings (key, sighting, not_ready_since, not_ready_outcome) VALUES (?1, '', ?2, ?3)
     ON CONFLICT (key) DO UPDATE SET not_ready_since = coalesce(not_ready_since, ?2), not_ready_outcome = ?3`,
  );
  const unmark = connection.prepare("UPDATE sightings SET not_ready_since = NULL WHERE key = ?");
  const remove = connection.prepare("DELETE FROM sightings WHERE key = ?");
  // A slash ends each part of a key and "0" is the character after it, so this is exactly the keys of one kind.
  const selectKind = connection.prepare(
    "SELECT * FROM sightings WHERE key >= ?1 || '/' AND key < ?1 || '0' ORDER BY key",
  );
  return {
    async get(key, signal) {
      signal.throwIfAborted();
      const row = select.get(formatWorkKey(key));
      return row === undefined ? undefined : summaryOf(row);
    },
    async put(key, summary, signal) {
      signal.throwIfAborted();
      put.run(formatWorkKey(key), summary);
    },
    async remove(key, signal) {
      signal.throwIfAborted();
      remove.run(formatWorkKey(key));
    },
    async markNotReady(key, { since, outcome }, signal) {
      signal.throwIfAborted();
      mark.run(formatWorkKey(key), since, outcome);
    },
    async markReady(key, signal) {
      signal.throwIfAborted();
      unmark.run(formatWorkKey(key));
    },
    async list({ cluster, group, kind }, signal) {
      signal.throwIfAborted();
      return selectKind.all(`${cluster}/${group}/${kind}`).map(observedOf);
    },
  };
}

type Columns = Parameters<typeof textColumn>[0];

function summaryOf(row: Columns): string | undefined {
  const summary = textColumn(row, "sighting");
  return summary === "" ? undefined : summary;
}

function observedOf(row: Columns): ObservedResource {
  const key = parseWorkKey(textColumn(row, "key"));
  const summary = summaryOf(row);
  const since = row["not_ready_since"];
  if (typeof since !== "number") return { key, summary };
  return { key, summary, notReady: { since, outcome: textColumn(row, "not_ready_outcome") } };
}
