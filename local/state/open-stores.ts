import type { ArtifactRecords } from "../../lib/core/ports/artifact-records.ts";
import type { ArtifactStore } from "../../lib/core/ports/artifact-store.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import type { Edges } from "../../lib/core/ports/edges.ts";
import type { History } from "../../lib/core/ports/history.ts";
import type { InventoryStore } from "../../lib/core/ports/inventory-store.ts";
import type { Ledger } from "../../lib/core/ports/ledger.ts";
import type { Sightings } from "../../lib/core/ports/sightings.ts";
import type { DeadLetters } from "../../lib/core/ports/wake-ups.ts";
import type { LeasedItems, WorkItems } from "../../lib/core/ports/work-items.ts";
import { artifactFiles } from "./artifact-files.ts";
import { sqliteArtifactRecords } from "./artifact-records.ts";
import { sqliteEdges } from "./edges.ts";
import { sqliteHistory } from "./history.ts";
import { sqliteInventoryStore } from "./inventory-store.ts";
import { sqliteLedger } from "./ledger.ts";
import { type MessageQueue, sqliteMessageQueue } from "./message-queue.ts";
import { sqliteSightings } from "./sightings.ts";
import type { StateDatabase } from "./state-database.ts";
import { sqliteDeadLetters } from "./wake-ups.ts";
import { sqliteWorkItems } from "./work-items.ts";

/** An adapter in this machine's files for every port that remembers something. */
export interface Stores {
  readonly items: WorkItems & LeasedItems;
  readonly queue: MessageQueue;
  readonly deadLetters: DeadLetters;
  readonly edges: Edges;
  readonly sightings: Sightings;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly records: ArtifactRecords;
  readonly history: History;
  readonly artifacts: ArtifactStore;
}

export function openStores(database: StateDatabase, artifacts: string, clock: Clock): Stores {
  return {
    items: sqliteWorkItems(database),
    queue: sqliteMessageQueue(database, clock),
    deadLetters: sqliteDeadLetters(database, clock),
    edges: sqliteEdges(database),
    sightings: sqliteSightings(database),
    inventories: sqliteInventoryStore(database, clock),
    ledger: sqliteLedger(database),
    records: sqliteArtifactRecords(database),
    history: sqliteHistory(database),
    artifacts: artifactFiles(artifacts),
  };
}
