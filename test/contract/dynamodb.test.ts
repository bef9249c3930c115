import { describe } from "vitest";
import { artifactRecordsContract } from "./artifact-records.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { edgesContract } from "./edges.ts";
import { historyContract } from "./history.ts";
import { inventoryStoreContract } from "./inventory-store.ts";
import { ledgerContract } from "./ledger.ts";
import { realAws } from "./real-aws.ts";
import { workItemsContract } from "./work-items.ts";

const connection = realAws("DYNAMODB");

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  const open = () => newDynamodb(connection ?? { region: "" });
  workItemsContract("DynamoDB", open);
  edgesContract("DynamoDB", open);
  inventoryStoreContract("DynamoDB", open);
  ledgerContract("DynamoDB", open);
  artifactRecordsContract("DynamoDB", open);
  historyContract("DynamoDB", open);
});
