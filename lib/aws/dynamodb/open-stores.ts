import type { ArtifactRecords } from "../../core/ports/artifact-records.ts";
import type { Edges } from "../../core/ports/edges.ts";
import type { History } from "../../core/ports/history.ts";
import type { InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Ledger } from "../../core/ports/ledger.ts";
import type { Sightings } from "../../core/ports/sightings.ts";
import type { WorkItems } from "../../core/ports/work-items.ts";
import { dynamodbArtifactRecords } from "./artifact-records.ts";
import { dynamodbEdges } from "./edges.ts";
import { dynamodbHistory } from "./history.ts";
import { dynamodbInventoryStore } from "./inventory-store.ts";
import { dynamodbLedger } from "./ledger.ts";
import { newRecollection } from "./recollection.ts";
import { dynamodbSightings } from "./sightings.ts";
import { openStateTable, type StateTable } from "./state-table.ts";
import { dynamodbWorkItems } from "./work-items.ts";

/** Everything that is remembered in the table. Messages and dead letters are the queue's, artifacts the bucket's. */
export interface DynamodbStores {
  readonly items: WorkItems;
  readonly edges: Edges;
  readonly sightings: Sightings;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly records: ArtifactRecords;
  readonly history: History;
}

/** An adapter for every port that remembers something, on one table. Opens nothing before the first call. */
export function openDynamodbStores(of: Omit<StateTable, "call">): DynamodbStores {
  const table = openStateTable(of);
  const recollection = newRecollection();
  return {
    items: dynamodbWorkItems(table, recollection),
    edges: dynamodbEdges(table, recollection),
    sightings: dynamodbSightings(table),
    inventories: dynamodbInventoryStore(table, recollection),
    ledger: dynamodbLedger(table),
    records: dynamodbArtifactRecords(table),
    history: dynamodbHistory(table),
  };
}
