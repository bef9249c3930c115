import { applyFaults } from "./apply.ts";
import { awsFaults } from "./aws.ts";
import type { FileFaults } from "./fault.ts";
import { flowsFaults } from "./flows.ts";
import { functionsFaults } from "./functions.ts";
import { gateFaults } from "./gate.ts";
import { kubeFaults } from "./kube.ts";
import { localFaults } from "./local.ts";
import { networkFaults } from "./network.ts";
import { pruneFaults } from "./prune.ts";
import { queueFaults } from "./queue.ts";
import { sourcesFaults } from "./sources.ts";

/** Every list, by area. */
export const fileFaults: readonly FileFaults[] = [
  ...applyFaults,
  ...awsFaults,
  ...flowsFaults,
  ...functionsFaults,
  ...gateFaults,
  ...kubeFaults,
  ...localFaults,
  ...networkFaults,
  ...pruneFaults,
  ...queueFaults,
  ...sourcesFaults,
];
