import { afterEach, expect } from "vitest";
import { apiVersionStories } from "./api-version-stories.ts";
import { applySettingsStories } from "./apply-settings-stories.ts";
import { applyStories } from "./apply-stories.ts";
import { buildStories } from "./build-stories.ts";
import { contestedStories } from "./contested-stories.ts";
import { crossNamespaceStories } from "./cross-namespace-stories.ts";
import { decryptionStories } from "./decryption-stories.ts";
import { definitionStories } from "./definition-stories.ts";
import { deletionStories } from "./deletion-stories.ts";
import { dependencyStories } from "./dependency-stories.ts";
import { externalArtifactStories } from "./external-artifact-stories.ts";
import { faultStories } from "./fault-stories.ts";
import { forceStories } from "./force-stories.ts";
import { foreignDeletionStories } from "./foreign-deletion-stories.ts";
import { handoverStories } from "./handover-stories.ts";
import { healthExpressionStories } from "./health-expression-stories.ts";
import { healthStories } from "./health-stories.ts";
import { ignoreStories } from "./ignore-stories.ts";
import { impersonationStories } from "./impersonation-stories.ts";
import { inventoryStories } from "./inventory-stories.ts";
import { lifeCycleStories } from "./life-cycle-stories.ts";
import { lostStateStories } from "./lost-state-stories.ts";
import { meanwhileStories } from "./meanwhile-stories.ts";
import { movingStories } from "./moving-stories.ts";
import { numberStories } from "./number-stories.ts";
import { obstacleStories } from "./obstacle-stories.ts";
import { outageStories } from "./outage-stories.ts";
import { ownershipStories } from "./ownership-stories.ts";
import { pauseStories } from "./pause-stories.ts";
import { pruneStories } from "./prune-stories.ts";
import { referenceStories } from "./reference-stories.ts";
import { restoreStories } from "./restore-stories.ts";
import { sourceStories } from "./source-stories.ts";
import { specStories } from "./spec-stories.ts";
import { substitutionStories } from "./substitution-stories.ts";
import { tenancyStories } from "./tenancy-stories.ts";
import { terminationStories } from "./termination-stories.ts";
import { watchStories } from "./watch-stories.ts";
import type { World } from "./world.ts";

const all = [
  apiVersionStories,
  applySettingsStories,
  applyStories,
  buildStories,
  contestedStories,
  crossNamespaceStories,
  decryptionStories,
  definitionStories,
  deletionStories,
  dependencyStories,
  externalArtifactStories,
  faultStories,
  forceStories,
  foreignDeletionStories,
  handoverStories,
  healthExpressionStories,
  healthStories,
  ignoreStories,
  impersonationStories,
  inventoryStories,
  lifeCycleStories,
  lostStateStories,
  meanwhileStories,
  movingStories,
  numberStories,
  obstacleStories,
  outageStories,
  ownershipStories,
  pauseStories,
  pruneStories,
  referenceStories,
  restoreStories,
  sourceStories,
  specStories,
  substitutionStories,
  tenancyStories,
  terminationStories,
  watchStories,
];

/**
 * What a Kustomization does to a cluster: written once, run on the embedded API server and on a real control plane. After each
 * story no value of a Secret may have been shown.
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
    expect(told.flat(), "places that show a value of a Secret").toEqual([]);
  });
  for (const stories of all) stories(name, newStory);
}
