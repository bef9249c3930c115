import type { CanaryPhase, CanaryStatus } from "../../api/canary.ts";
import { equal } from "../../core/json.ts";
import type { TargetRevision } from "../workload/workload.ts";

/** Whether a run is under way. */
export function isInFlight(phase: CanaryPhase): boolean {
  switch (phase) {
    case "Progressing":
    case "WaitingPromotion":
    case "Promoting":
    case "Finalising":
      return true;
    case "Initializing":
    case "Initialized":
    case "Waiting":
    case "Succeeded":
    case "Failed":
    case "Terminating":
    case "Terminated":
      return false;
  }
}

/** Whether one step follows another, an interval later. A Canary that has never had a phase begins at once. */
export function isGoing(phase: CanaryPhase | undefined): boolean {
  return phase !== undefined && (phase === "Initializing" || phase === "Waiting" || isInFlight(phase));
}

/**
 * Whether the target differs from the one of the last run (reference canary 5, step 11). The promoted template starts no run: the primary
 * has it.
 */
export function isChanged(status: CanaryStatus, revision: TargetRevision, isTracking: boolean): boolean {
  const { lastAppliedSpec = "", lastPromotedSpec } = status;
  if (lastAppliedSpec === "") return true;
  if (revision.spec !== lastPromotedSpec && revision.spec !== lastAppliedSpec) return true;
  return isTracking && areConfigsChanged(status, revision);
}

function areConfigsChanged({ trackedConfigs }: CanaryStatus, { configs }: TargetRevision): boolean {
  if (trackedConfigs === undefined) return Object.keys(configs).length > 0;
  return !equal(trackedConfigs, configs);
}

/** Whether the status names this revision as the one that it has seen last. */
export function isSeen(status: CanaryStatus, revision: TargetRevision, isTracking: boolean): boolean {
  return status.lastAppliedSpec === revision.spec && !(isTracking && areConfigsChanged(status, revision));
}
