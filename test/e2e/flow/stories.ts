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
import { expressionRightsStories } from "./expression-rights-stories.ts";
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
import { removeWorlds } from "./remove-worlds.ts";
import { restoreStories } from "./restore-stories.ts";
import { sourceStories } from "./source-stories.ts";
import { specStories } from "./spec-stories.ts";
import { substitutionStories } from "./substitution-stories.ts";
import { tenancyStories } from "./tenancy-stories.ts";
import { terminationStories } from "./termination-stories.ts";
import { unreconciledStories } from "./unreconciled-stories.ts";
import { watchStories } from "./watch-stories.ts";
import type { World } from "./world.ts";

/** A concern of Kustomizations: its tests, each of which begins with a world of its own. */
type Stories = (name: string, newWorld: () => Promise<World>) => void;

/** What depends on how an API server behaves: ownership of fields, dry runs, finalizers, controllers, rights, watches. */
export const serverStories: readonly Stories[] = [
  apiVersionStories,
  applyStories,
  contestedStories,
  definitionStories,
  deletionStories,
  forceStories,
  foreignDeletionStories,
  healthStories,
  ignoreStories,
  impersonationStories,
  numberStories,
  specStories,
  terminationStories,
  unreconciledStories,
  watchStories,
];

/** What is decided before a request is sent, or after its answer: any API server will do. */
const ownStories: readonly Stories[] = [
  applySettingsStories,
  buildStories,
  crossNamespaceStories,
  decryptionStories,
  dependencyStories,
  expressionRightsStories,
  externalArtifactStories,
  healthExpressionStories,
  inventoryStories,
  lifeCycleStories,
  lostStateStories,
  movingStories,
  obstacleStories,
  ownershipStories,
  pauseStories,
  pruneStories,
  referenceStories,
  restoreStories,
  sourceStories,
  substitutionStories,
  tenancyStories,
];

/** All that are not interrupted. */
export const wholeStories: readonly Stories[] = [...serverStories, ...ownStories];

/** Runs that are killed, edited or cut off at each of their effects, one after the other. */
export const interruptedStories: readonly Stories[] = [faultStories, handoverStories, meanwhileStories, outageStories];

/**
 * What a Kustomization does to a cluster: written once, run on the embedded API server and on a real control plane. After each
 * story no value of a Secret may have been shown. A story's namespaces are removed at its end, since each run lists all
 * Kustomizations of the cluster.
 */
export function kustomizationStories(name: string, stories: readonly Stories[], newWorld: () => Promise<World>): void {
  const worlds: World[] = [];
  const newStory = async (): Promise<World> => {
    const world = await newWorld();
    worlds.push(world);
    return world;
  };
  afterEach(async () => {
    const ended = worlds.splice(0);
    const told = await Promise.all(ended.map((world) => world.leaks()));
    for (const { cluster, namespace, signal } of ended) {
      await removeWorlds(cluster, (one) => one === namespace || one.startsWith(`${namespace}-`), signal);
    }
    expect(told.flat(), "places that show a value of a Secret").toEqual([]);
  });
  for (const tell of stories) tell(name, newStory);
}
