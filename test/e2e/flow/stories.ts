import { afterEach, expect } from "vitest";
import { applyStories } from "./apply-stories.ts";
import { crossNamespaceStories } from "./cross-namespace-stories.ts";
import { deletionStories } from "./deletion-stories.ts";
import { dependencyStories } from "./dependency-stories.ts";
import { faultStories } from "./fault-stories.ts";
import { forceStories } from "./force-stories.ts";
import { foreignDeletionStories } from "./foreign-deletion-stories.ts";
import { handoverStories } from "./handover-stories.ts";
import { healthStories } from "./health-stories.ts";
import { inventoryStories } from "./inventory-stories.ts";
import { lifeCycleStories } from "./life-cycle-stories.ts";
import { movingStories } from "./moving-stories.ts";
import { outageStories } from "./outage-stories.ts";
import { ownershipStories } from "./ownership-stories.ts";
import { pruneStories } from "./prune-stories.ts";
import { referenceStories } from "./reference-stories.ts";
import { restoreStories } from "./restore-stories.ts";
import { sourceStories } from "./source-stories.ts";
import { specStories } from "./spec-stories.ts";
import { tenancyStories } from "./tenancy-stories.ts";
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
  handoverStories,
  healthStories,
  inventoryStories,
  lifeCycleStories,
  movingStories,
  outageStories,
  ownershipStories,
  pruneStories,
  referenceStories,
  restoreStories,
  sourceStories,
  specStories,
  tenancyStories,
  terminationStories,
];

/**
 * What a Kustomization does to a cluster, told once and run on the embedded API and on a real control plane. However a story
 * ends, no value of a Secret has been told.
 */
export function kustomizationStories(name: string, newWorld: () => Promise<World>): void {
  const worlds: World[] = [];
  const newStory = async (): Promise<World> => {
    const world = await newWorld();
    worlds.push(world);
    return world;
  };
  afterEach(async () => {
    const told = await Promise.all(worlds.splice(0).map((world) => world.leaks()));
    expect(told.flat(), "where a value of a Secret is told").toEqual([]);
  });
  for (const stories of all) stories(name, newStory);
}
