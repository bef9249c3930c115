import { join } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import type { InventoryEntry, InventoryOwner } from "../lib/core/ports/inventory-store.ts";
import type { Claim } from "../lib/core/ports/ledger.ts";
import type { WorkKey } from "../lib/core/work-key.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { sqliteInventoryStore } from "./state/inventory-store.ts";
import { recordedClaims } from "./state/ledger.ts";
import { readStateDatabase, type StateDatabase } from "./state/state-database.ts";

/** The records of an installation about the objects that it has applied, for reading only. */
export interface RecordedState extends Disposable {
  /** Undefined if it has no saved inventory. The key's cluster is the cluster's uid, as in `sluice local`. */
  inventory(key: WorkKey, owner: InventoryOwner, signal: AbortSignal): Promise<readonly InventoryEntry[] | undefined>;
  /** All claims on objects of this cluster. */
  claims(clusterUid: string): readonly Claim[];
}

/**
 * Opens the state of this folder for reading; a `sluice local` may use it at the same time.
 *
 * @throws Error if it is missing or cannot be read
 */
export function recordedState(folder: string): RecordedState {
  const database = databaseOf(folder);
  const inventories = sqliteInventoryStore(database, systemClock);
  return {
    // Reading needs no lease: only the key of the fence counts.
    inventory: (key, owner, signal) => inventories.load(owner, { key, token: 0 }, signal),
    claims: (clusterUid) => recordedClaims(database, clusterUid),
    [Symbol.dispose]: () => database.close(),
  };
}

function databaseOf(folder: string): StateDatabase {
  try {
    return readStateDatabase(join(folder, "state.db"));
  } catch (error) {
    throw new Error(`the state in ${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
