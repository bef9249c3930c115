import { applyStories } from "./apply-stories.ts";
import { crossNamespaceStories } from "./cross-namespace-stories.ts";
import { deletionStories } from "./deletion-stories.ts";
import { dependencyStories } from "./dependency-stories.ts";
import { faultStories } from "./fault-stories.ts";
import { forceStories } from "./force-stories.ts";
import { foreignDeletionStories } from "./foreign-deletion-stories.ts";
import { healthStories } from "./health-stories.ts";
import { inventoryStories } from "./inventory-stories.ts";
import { lifeCycleStories } from "./life-cycle-stories.ts";
import { movingStories } from "./moving-stories.ts";
import { outageStories } from "./outage-stories.ts";
import { ownershipStories } from "./ownership-stories.ts";
import { pruneStories } from "./prune-stories.ts";
import { restoreStories } from "./restore-stories.ts";
import { sourceStories } from "./source-stories.ts";
import { specStories } from "./spec-stories.ts";
import { terminationStories } from "./termination-stories.ts";
import type { World } from "./world.ts";

const all = [
  applyStories,
  crossNamespaceStories,
  deletionStories,
  dependencyStories,
  faultStories,
  forceStories,
  foreignDeletionStories,
  healthStories,
  inventoryStories,
  lifeCycleStories,
  movingStories,
  outageStories,
  ownershipStories,
  pruneStories,
  restoreStories,
  sourceStories,
  specStories,
  terminationStories,
];

/** What a Kustomization does to a cluster, told once and run on the embedded API and on a real control plane. */
export function kustomizationStories(name: string, newWorld: () => Promise<World>): void {
  for (const stories of all) stories(name, newWorld);
}
