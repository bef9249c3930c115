import type { ArtifactCollection } from "../../lib/core/ports/artifact-collection.ts";
import type { ArtifactRecords, RecordedArtifacts } from "../../lib/core/ports/artifact-records.ts";
import type { ArtifactStore } from "../../lib/core/ports/artifact-store.ts";
import type { CauseGroups } from "../../lib/core/ports/cause-groups.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import type { ClusterStates } from "../../lib/core/ports/cluster-states.ts";
import type { EventWindows } from "../../lib/core/ports/event-windows.ts";
import type { History } from "../../lib/core/ports/history.ts";
import type { ImageTags } from "../../lib/core/ports/image-tags.ts";
import type { InventoryStore } from "../../lib/core/ports/inventory-store.ts";
import type { Ledger } from "../../lib/core/ports/ledger.ts";
import type { ObservedResources } from "../../lib/core/ports/observed-resources.ts";
import type { ReceiverIndex } from "../../lib/core/ports/receiver-index.ts";
import type { Subscriptions } from "../../lib/core/ports/subscriptions.ts";
import type { SweepLeases } from "../../lib/core/ports/sweep-leases.ts";
import type { DeadLetters } from "../../lib/core/ports/wake-ups.ts";
import type { LeasedItems, WorkItems } from "../../lib/core/ports/work-items.ts";
import { artifactFiles } from "./artifact-files.ts";
import { sqliteArtifactRecords } from "./artifact-records.ts";
import { memoryCauseGroups } from "./cause-groups.ts";
import { sqliteClusterStates } from "./cluster-states.ts";
import { memoryEventWindows } from "./event-windows.ts";
import { sqliteHistory } from "./history.ts";
import { sqliteImageTags } from "./image-tags.ts";
import { sqliteInventoryStore } from "./inventory-store.ts";
import { sqliteLedger } from "./ledger.ts";
import { type MessageQueue, sqliteDeadLetters, sqliteMessageQueue } from "./message-queue.ts";
import { sqliteObservedResources } from "./observed-resources.ts";
import { sqliteReceiverIndex } from "./receiver-index.ts";
import type { StateDatabase } from "./state-database.ts";
import { sqliteSubscriptions } from "./subscriptions.ts";
import { memorySweepLeases } from "./sweep-leases.ts";
import { sqliteWorkItems } from "./work-items.ts";

/** The adapters of all ports that store something, on files of this machine. */
export interface Stores {
  readonly items: WorkItems & LeasedItems;
  readonly queue: MessageQueue;
  readonly deadLetters: DeadLetters;
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
  readonly artifacts: ArtifactStore & ArtifactCollection;
}

export function openStores(database: StateDatabase, artifacts: string, clock: Clock): Stores {
  return {
    items: sqliteWorkItems(database),
    queue: sqliteMessageQueue(database, clock),
    deadLetters: sqliteDeadLetters(database, clock),
    subscriptions: sqliteSubscriptions(database),
    observed: sqliteObservedResources(database),
    clusterStates: sqliteClusterStates(database),
    sweepLeases: memorySweepLeases(clock),
    inventories: sqliteInventoryStore(database, clock),
    ledger: sqliteLedger(database),
    records: sqliteArtifactRecords(database),
    receivers: sqliteReceiverIndex(database),
    imageTags: sqliteImageTags(database),
    eventWindows: memoryEventWindows(),
    causeGroups: memoryCauseGroups(),
    history: sqliteHistory(database),
    artifacts: artifactFiles(artifacts, clock),
  };
}
