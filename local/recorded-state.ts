import { join } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import type { InventoryEntry, InventoryOwner } from "../lib/core/ports/inventory-store.ts";
import type { Claim } from "../lib/core/ports/ledger.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import type { WorkKey } from "../lib/core/work-key.ts";
import { sqliteInventoryStore } from "./state/inventory-store.ts";
import { recordedClaims } from "./state/ledger.ts";
import { readStateDatabase, type StateDatabase } from "./state/state-database.ts";

/** What an installation remembers of what it has applied, to be looked at. */
export interface RecordedState extends Disposable {
  /** Undefined where nothing was saved for it. The key's cluster is the uid, as `sluice local` has it. */
  inventory(key: WorkKey, owner: InventoryOwner, signal: AbortSignal): Promise<readonly InventoryEntry[] | undefined>;
  /** All claims on objects of this cluster. */
  claims(clusterUid: string): readonly Claim[];
}

/**
 * The state of this folder, which may be in use meanwhile. Nothing is written.
 *
 * @throws Error where there is none, or it cannot be read
 */
export function recordedState(folder: string): RecordedState {
  const database = databaseOf(folder);
  const inventories = sqliteInventoryStore(database, systemClock);
  return {
    // No lease is needed to read: of the fence only the key counts.
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
