import { describe } from "vitest";
import { applyContract } from "./apply.ts";
import type { StartCluster } from "./cluster-under-test.ts";
import { controllersContract } from "./controllers.ts";
import { createContract } from "./create.ts";
import { customResourcesContract } from "./custom-resources.ts";
import { deletionContract } from "./deletion.ts";
import { discoveryContract } from "./discovery.ts";
import { dryRunContract } from "./dry-run.ts";
import { getContract } from "./get.ts";
import { listsContract } from "./lists.ts";
import { listsOfMapsContract } from "./lists-of-maps.ts";
import { managedFieldsContract } from "./managed-fields.ts";
import { numbersContract } from "./numbers.ts";
import { ownershipContract } from "./ownership.ts";
import { patchesContract } from "./patches.ts";
import { refusalsContract } from "./refusals.ts";
import { sluiceKindsContract } from "./sluice-kinds.ts";
import { subresourcesContract } from "./subresources.ts";
import { tablesContract } from "./tables.ts";
import { transportContract } from "./transport.ts";
import { valuesContract } from "./values.ts";
import { watchesContract } from "./watches.ts";

const concerns = [
  applyContract,
  ownershipContract,
  managedFieldsContract,
  listsOfMapsContract,
  valuesContract,
  numbersContract,
  dryRunContract,
  refusalsContract,
  subresourcesContract,
  customResourcesContract,
  createContract,
  patchesContract,
  getContract,
  listsContract,
  tablesContract,
  watchesContract,
  deletionContract,
  controllersContract,
  discoveryContract,
  sluiceKindsContract,
  transportContract,
];

/** What every adapter of the cluster port, on every API server, has to do, concern by concern, each on a cluster of its own start. */
export function clusterContract(name: string, start: StartCluster): void {
  describe(`the cluster port by ${name}`, () => {
    for (const concern of concerns) concern(start);
  });
}
