import { artifactRecordsContract } from "./artifact-records.ts";
import { causeGroupsContract } from "./cause-groups.ts";
import { clusterStatesContract } from "./cluster-states.ts";
import { eventWindowsContract } from "./event-windows.ts";
import { historyContract } from "./history.ts";
import { imageTagsContract } from "./image-tags.ts";
import { inventoryStoreContract } from "./inventory-store.ts";
import { ledgerContract } from "./ledger.ts";
import { observedResourcesContract } from "./observed-resources.ts";
import { receiverIndexContract } from "./receiver-index.ts";
import { subscriptionsContract } from "./subscriptions.ts";
import { sweepLeasesContract } from "./sweep-leases.ts";
import { workItemsContract } from "./work-items.ts";

/** The contracts of the state that runs read and write. */
export const stateContracts = [
  workItemsContract,
  subscriptionsContract,
  inventoryStoreContract,
  ledgerContract,
  artifactRecordsContract,
  historyContract,
  receiverIndexContract,
  imageTagsContract,
];

/** All contracts of the state table. */
export const dynamodbContracts = [
  ...stateContracts,
  observedResourcesContract,
  clusterStatesContract,
  sweepLeasesContract,
  eventWindowsContract,
  causeGroupsContract,
];
