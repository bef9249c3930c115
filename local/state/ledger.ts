import type { Claim, Ledger } from "../../lib/core/ports/ledger.ts";
import { type Row, type StateDatabase, textColumn } from "./state-database.ts";

/** Every claim on an object of this cluster, in the order in which they were made. */
export function recordedClaims({ connection }: StateDatabase, clusterUid: string): readonly Claim[] {
  const select = connection.prepare("SELECT id, owner_uid, owner FROM claims WHERE cluster_uid = ? ORDER BY position");
  return select.all(clusterUid).map(claimOf);
}

function claimOf(row: Row): Claim {
  return { id: textColumn(row, "id"), ownerUid: textColumn(row, "owner_uid"), owner: textColumn(row, "owner") };
}

export function sqliteLedger({ connection, fenced }: StateDatabase): Ledger {
  const insert = connection.prepare(
    "INSERT INTO claims (cluster_uid, id, owner_uid, owner) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const remove = connection.prepare("DELETE FROM claims WHERE cluster_uid = ? AND id = ? AND owner_uid = ?");
  const select = connection.prepare(
    "SELECT id, owner_uid, owner FROM claims WHERE cluster_uid = ? AND id = ? ORDER BY position",
  );
  return {
    async claim(clusterUid, claims, fence, signal) {
      signal.throwIfAborted();
      fenced(fence, () => {
        for (const { id, ownerUid, owner } of claims) insert.run(clusterUid, id, ownerUid, owner);
      });
    },
    async release(clusterUid, ownerUid, ids, fence, signal) {
      signal.throwIfAborted();
      fenced(fence, () => {
        for (const id of ids) remove.run(clusterUid, id, ownerUid);
      });
    },
    async claims(clusterUid, ids, signal) {
      signal.throwIfAborted();
      const found = new Map<string, readonly Claim[]>();
      for (const id of ids) {
        const claims = select.all(clusterUid, id).map(claimOf);
        if (claims.length > 0) found.set(id, claims);
      }
      return found;
    },
  };
}
