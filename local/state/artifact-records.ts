import { Digest } from "../../lib/core/digest.ts";
import type { ArtifactRecords, RecordedArtifacts } from "../../lib/core/ports/artifact-records.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { type StateDatabase, textColumn } from "./state-database.ts";

export function sqliteArtifactRecords({ connection, fenced }: StateDatabase): ArtifactRecords & RecordedArtifacts {
  const insert = connection.prepare(
    "INSERT INTO artifact_records (key, source_uid, digest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const remove = connection.prepare(
    "DELETE FROM artifact_records WHERE key = ? AND NOT (source_uid = ? AND digest IN (SELECT value FROM json_each(?)))",
  );
  const select = connection.prepare("SELECT 1 FROM artifact_records WHERE key = ? AND source_uid = ? AND digest = ?");
  const all = connection.prepare("SELECT DISTINCT digest FROM artifact_records");
  return {
    async record(source, sourceUid, digest, fence, signal) {
      signal.throwIfAborted();
      fenced(fence, () => insert.run(formatWorkKey(source), sourceUid, digest));
    },
    async retain(source, sourceUid, digests, fence, signal) {
      signal.throwIfAborted();
      fenced(fence, () => remove.run(formatWorkKey(source), sourceUid, JSON.stringify(digests)));
    },
    async recorded(source, sourceUid, digest, signal) {
      signal.throwIfAborted();
      return select.get(formatWorkKey(source), sourceUid, digest) !== undefined;
    },
    async digests(signal) {
      signal.throwIfAborted();
      return new Set(all.all().map((row) => Digest.parse(textColumn(row, "digest"))));
    },
  };
}
