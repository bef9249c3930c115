import type { ArtifactRecords, RecordedArtifacts } from "../../core/ports/artifact-records.ts";
import type { CauseGroups } from "../../core/ports/cause-groups.ts";
import type { ClusterStates } from "../../core/ports/cluster-states.ts";
import type { EventWindows } from "../../core/ports/event-windows.ts";
import type { History } from "../../core/ports/history.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import type { InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Ledger } from "../../core/ports/ledger.ts";
import type { ObservedResources } from "../../core/ports/observed-resources.ts";
import type { ReceiverIndex } from "../../core/ports/receiver-index.ts";
import type { Subscriptions } from "../../core/ports/subscriptions.ts";
import type { SweepLeases } from "../../core/ports/sweep-leases.ts";
import type { WorkItems } from "../../core/ports/work-items.ts";
import { dynamodbArtifactRecords } from "./artifact-records.ts";
import { dynamodbCauseGroups } from "./cause-groups.ts";
import { dynamodbClusterStates } from "./cluster-states.ts";
import { dynamodbEventWindows } from "./event-windows.ts";
import { dynamodbHistory } from "./history.ts";
import { dynamodbImageTags } from "./image-tags.ts";
import { dynamodbInventoryStore } from "./inventory-store.ts";
import { dynamodbLedger } from "./ledger.ts";
import { dynamodbObservedResources } from "./observed-resources.ts";
import { dynamodbReceiverIndex } from "./receiver-index.ts";
import { newRowCache } from "./row-cache.ts";
import { openStateTable, type StateTable } from "./state-table.ts";
import { dynamodbSubscriptions } from "./subscriptions.ts";
import { dynamodbSweepLeases } from "./sweep-leases.ts";
import { dynamodbWorkItems } from "./work-items.ts";

/** Everything that is stored in the table. Messages and dead letters are in queues, artifacts in a bucket. */
export interface DynamodbStores {
  readonly items: WorkItems;
  readonly subscriptions: Subscriptions;
  readonly observed: ObservedResources;
  readonly clusterStates: ClusterStates;
  readonly sweepLeases: SweepLeases;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly records: ArtifactRecords & RecordedArtifacts;
  readonly receivers: ReceiverIndex;
  readonly imageTags: ImageTags;
  readonly eventWindows: EventWindows;
  readonly causeGroups: CauseGroups;
  readonly history: History;
}

/** The adapters of all these ports on one table. Opens no connection before the first call. */
export function openDynamodbStores(of: Omit<StateTable, "call">): DynamodbStores {
  const table = openStateTable(of);
  const rowCache = newRowCache();
  return {
    items: dynamodbWorkItems(table, rowCache),
    subscriptions: dynamodbSubscriptions(table, rowCache),
    observed: dynamodbObservedResources(table),
    clusterStates: dynamodbClusterStates(table),
    sweepLeases: dynamodbSweepLeases(table),
    inventories: dynamodbInventoryStore(table, rowCache),
    ledger: dynamodbLedger(table),
    records: dynamodbArtifactRecords(table),
    receivers: dynamodbReceiverIndex(table),
    imageTags: dynamodbImageTags(table),
    eventWindows: dynamodbEventWindows(table),
    causeGroups: dynamodbCauseGroups(table),
    history: dynamodbHistory(table),
  };
}
