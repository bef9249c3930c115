import type { ArtifactRecords } from "../../lib/core/ports/artifact-records.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import type { StateDatabase } from "./state-database.ts";

export function sqliteArtifactRecords({ connection, fenced }: StateDatabase): ArtifactRecords {
  const insert = connection.prepare(
    "INSERT INTO artifact_records (key, source_uid, digest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const select = connection.prepare("SELECT 1 FROM artifact_records WHERE key = ? AND source_uid = ? AND digest = ?");
  return {
    async record(source, sourceUid, digest, fence, signal) {
      signal.throwIfAborted();
      fenced(fence, () => insert.run(formatWorkKey(source), sourceUid, digest));
    },
    async recorded(source, sourceUid, digest, signal) {
      signal.throwIfAborted();
      return select.get(formatWorkKey(source), sourceUid, digest) !== undefined;
    },
  };
}
