import { artifactRecordsContract } from "./artifact-records.ts";
import { historyContract } from "./history.ts";
import { inventoryStoreContract } from "./inventory-store.ts";
import { ledgerContract } from "./ledger.ts";
import { receiverIndexContract } from "./receiver-index.ts";
import { subscriptionsContract } from "./subscriptions.ts";
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
];
