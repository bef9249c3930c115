import type { CanaryAnalysis, CanaryPhase, CanaryStatus } from "../../api/canary.ts";
import { kubernetesTime } from "../../core/kubernetes-time.ts";
import type { TargetRevision } from "../workload/workload.ts";

/** Whose status it is, and when. */
export interface At {
  /** Kind of the target, for messages. */
  readonly kind: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Conditions = NonNullable<CanaryStatus["conditions"]>;

/**
 * The status in another phase. Counters start again, unless the phase goes on with a run (reference canary 4).
 *
 * @param analysis as the provider can do it
 */
export function inPhase(
  status: CanaryStatus,
  phase: CanaryPhase,
  { iterations = 0 }: Pick<CanaryAnalysis, "iterations">,
  at: At,
): CanaryStatus {
  const isKept = phase === "Progressing" || phase === "Waiting" || phase === "Promoting";
  // One iteration is repeated while promotion waits; with weights, which have no iterations, minus one remains. As in Flagger.
  const counters = isKept ? {} : { canaryWeight: 0, iterations: phase === "WaitingPromotion" ? iterations - 1 : 0 };
  const isPromoted = phase === "Initialized" || phase === "Succeeded";
  const promoted =
    isPromoted && status.lastAppliedSpec !== undefined ? { lastPromotedSpec: status.lastAppliedSpec } : {};
  return written({ ...withCounters(status), ...counters, ...promoted, phase }, at, phase);
}

/** The values to which a status is synced. */
export interface Synced {
  readonly revision: TargetRevision;
  /** False if configs are not tracked: then their entries in the status stay. */
  readonly isTracking: boolean;
  /** Zero by default, like all counters. */
  readonly canaryWeight?: number;
}

/** The status with the counters at zero and the revision of the target, as a run begins or ends (reference canary 3). */
export function syncedIn(
  status: CanaryStatus,
  phase: CanaryPhase,
  { canaryWeight = 0, ...synced }: Synced,
  at: At,
): CanaryStatus {
  const counted = { ...status, phase, canaryWeight, failedChecks: 0, iterations: 0 };
  const { spec } = synced.revision;
  const promoted = phase === "Initialized" ? { lastPromotedSpec: spec } : {};
  return written({ ...counted, ...seen(synced), ...promoted }, at, phase);
}

/** The same status with the revision of the target: a failed one is not tried again (reference canary 5). */
export function resynced(status: CanaryStatus, synced: Omit<Synced, "canaryWeight">, at: At): CanaryStatus {
  return written({ ...withCounters(status), ...seen(synced) }, at);
}

function seen({ isTracking, revision: { configs, spec } }: Pick<Synced, "isTracking" | "revision">): CanaryStatus {
  return { lastAppliedSpec: spec, ...(isTracking ? { trackedConfigs: { ...configs } } : {}) };
}

/** The status with other counters, in the same phase. */
export function counted(
  status: CanaryStatus,
  counters: Partial<Pick<CanaryStatus, "canaryWeight" | "failedChecks" | "iterations">>,
  at: At,
): CanaryStatus {
  return written({ ...withCounters(status), ...counters }, at);
}

/** Flagger writes all counters, also those that are zero. */
function withCounters(status: CanaryStatus): CanaryStatus {
  return { canaryWeight: 0, failedChecks: 0, iterations: 0, ...status };
}

/** `lastTransitionTime` moves with every write, whatever it changes (reference canary 20, 12). */
function written(status: CanaryStatus, at: At, phase?: CanaryPhase): CanaryStatus {
  const lastTransitionTime = kubernetesTime(at.now);
  if (phase === undefined) return { ...status, lastTransitionTime };
  return { ...status, lastTransitionTime, conditions: conditionsIn(phase, status.conditions, at) };
}

/** The status with the condition of its phase, where that is missing. */
export function withCondition(status: CanaryStatus, at: At): CanaryStatus {
  const { conditions, phase } = status;
  return phase === undefined ? status : { ...status, conditions: conditionsIn(phase, conditions, at) };
}

/** The status of a Canary that takes no step, since another one has its target. Its phase stays as it is. */
export function withoutTarget(status: CanaryStatus, message: string, { now }: Pick<At, "now">): CanaryStatus {
  const reason = "TargetTaken";
  const present = status.conditions?.find(({ type }) => type === "Promoted");
  if (present?.reason === reason && present.message === message) return status;
  const at = kubernetesTime(now);
  const condition = { type: "Promoted", status: "False", reason, message } as const;
  return { ...status, conditions: [{ ...condition, lastUpdateTime: at, lastTransitionTime: at }] };
}

/** Rewritten only if status or reason change; `lastTransitionTime` changes only with the status. */
function conditionsIn(phase: CanaryPhase, before: Conditions = [], { kind, now }: At): Conditions {
  const { message, status } = promotedIn(phase, kind);
  const present = before.find(({ type }) => type === "Promoted");
  if (present?.status === status && present.reason === phase) return before;
  const at = kubernetesTime(now);
  const lastTransitionTime = present?.status === status ? present.lastTransitionTime : at;
  return [{ type: "Promoted", status, reason: phase, message, lastUpdateTime: at, lastTransitionTime }];
}

type Promoted = Pick<Conditions[number], "message" | "status">;

function promotedIn(phase: CanaryPhase, kind: string): Promoted {
  switch (phase) {
    case "Initializing":
    case "Terminating":
    case "Terminated":
      return { status: "Unknown", message: `New ${kind} detected, starting initialization.` };
    case "Initialized":
      return { status: "True", message: `${kind} initialization completed.` };
    case "Waiting":
    case "WaitingPromotion":
      return { status: "Unknown", message: "Waiting for approval." };
    case "Progressing":
      return { status: "Unknown", message: "New revision detected, progressing canary analysis." };
    case "Promoting":
      return { status: "Unknown", message: "Canary analysis completed, starting primary rolling update." };
    case "Finalising":
      return { status: "Unknown", message: "Canary analysis completed, routing all traffic to primary." };
    case "Succeeded":
      return { status: "True", message: "Canary analysis completed successfully, promotion finished." };
    case "Failed":
      return { status: "False", message: `Canary analysis failed, ${kind} scaled to zero.` };
  }
}
