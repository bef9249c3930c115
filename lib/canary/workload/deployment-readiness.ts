import type { JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { Canary } from "../canary.ts";
import { numberAt, objectAt, objectsAt, textAt } from "./fields.ts";
import type { ReadinessTime, Role } from "./pod-kind.ts";
import type { Readiness } from "./workload.ts";

const defaultDeadlineSeconds = 600;
const defaultThresholdPercent = 100;

/** `spec.progressDeadlineSeconds`. */
export function deadlineSeconds({ spec }: Pick<Canary, "spec">): number {
  return spec.progressDeadlineSeconds ?? defaultDeadlineSeconds;
}

/** How many percent of the updated pods have to be available. */
export function thresholdPercent({ analysis }: Pick<Canary, "analysis">, role: Role): number {
  const threshold = role === "primary" ? analysis.primaryReadyThreshold : analysis.canaryReadyThreshold;
  return threshold ?? defaultThresholdPercent;
}

/** A share of pods as Flagger computes it: in 32 bit floating point, cut to a whole number. */
export function shareOf(pods: number, percent: number): number {
  return Math.trunc(Math.fround(pods * Math.fround(percent / 100)));
}

/** Whether the pods of a Deployment serve (reference canary 5). Pure. */
export function deploymentReadiness(live: LiveObject, role: Role, { canary, clock }: ReadinessTime): Readiness {
  const { name, namespace = "" } = live.metadata;
  const fault =
    (role === "primary" ? zeroOf(live, canary) : undefined) ?? faultOf(live, thresholdPercent(canary, role));
  if (fault === undefined) return { isReady: true };
  const prefix = role === "primary" ? "" : "canary deployment ";
  const message = `${prefix}${name}.${namespace} not ready: ${fault.text}`;
  const isRetriable = fault.wait === "always" || (fault.wait === "deadline" && !isStuck(live, role, { canary, clock }));
  return {
    isReady: false,
    message,
    isRetriable,
    ...(role === "canary" && isLost(live, fault, canary) ? { isLost: true } : {}),
  };
}

/**
 * Whether pods that have served no longer do. While others start or end, a rollout explains it; with an autoscaler, newly added pods may
 * explain that some are missing, but not that all are.
 */
function isLost(live: LiveObject, { wait }: Fault, { spec: { autoscalerRef } }: Canary): boolean {
  if (wait !== "deadline") return false;
  const count = (field: string): number => numberAt(objectAt(live, "status"), field) ?? 0;
  if (count("availableReplicas") === 0) return true;
  const isComplete = count("updatedReplicas") === (numberAt(objectAt(live, "spec"), "replicas") ?? 1);
  return isComplete && count("replicas") === count("updatedReplicas") && autoscalerRef === undefined;
}

/** A primary that a user scaled to zero serves nothing, though Flagger counts it as ready. An autoscaler may do so. */
function zeroOf(live: LiveObject, { spec: { autoscalerRef } }: Canary): Fault | undefined {
  const isAtZero = numberAt(objectAt(live, "spec"), "replicas") === 0;
  return isAtZero && autoscalerRef === undefined ? waiting("0 replicas are wanted", "always") : undefined;
}

interface Fault {
  readonly text: string;
  /** How long it is worth to wait. */
  readonly wait: "always" | "deadline" | "never";
}

/** The first row of the table of reference canary 5 that fits. */
function faultOf(live: LiveObject, threshold: number): Fault | undefined {
  const status = objectAt(live, "status");
  if ((live.metadata.generation ?? 0) > (numberAt(status, "observedGeneration") ?? 0)) {
    return waiting("observed deployment generation less than desired generation", "always");
  }
  if (textAt(conditionOf(status, "Progressing") ?? {}, "reason") === "ProgressDeadlineExceeded") {
    return { text: `deployment ${JSON.stringify(live.metadata.name)} exceeded its progress deadline`, wait: "never" };
  }
  const count = (field: string): number => numberAt(status, field) ?? 0;
  const [replicas, updated, available] = [count("replicas"), count("updatedReplicas"), count("availableReplicas")];
  const desired = numberAt(objectAt(live, "spec"), "replicas");
  if (desired !== undefined && updated < desired) {
    return waiting(`${updated} out of ${desired} new replicas have been updated`);
  }
  if (replicas > updated) return waiting(`${replicas - updated} old replicas are pending termination`);
  const needed = shareOf(updated, threshold);
  if (available >= needed) return undefined;
  return waiting(`${available} of ${needed} (readyThreshold ${threshold}%) updated replicas are available`);
}

function waiting(what: string, wait: Fault["wait"] = "deadline"): Fault {
  return { text: `waiting for rollout to finish: ${what}`, wait };
}

/** Whether too few pods have been available for longer than the deadline of the Canary. */
function isStuck(live: LiveObject, role: Role, { canary, clock }: ReadinessTime): boolean {
  const status = objectAt(live, "status");
  const available = conditionOf(status, "Available");
  if (conditionOf(status, "Progressing") === undefined || available === undefined) return false;
  if (textAt(available, "status") !== "False" || textAt(available, "reason") !== "MinimumReplicasUnavailable")
    return false;
  const since = [textAt(available, "lastUpdateTime"), ...(isBegun(role, canary) ? [statusTime(canary)] : [])];
  return isOver(since, canary, clock.now());
}

/** Whether its rollout began with the status: of a canary in its run; of a primary when it is made or promoted. */
function isBegun(role: Role, { status: { phase = "Initializing" } }: Canary): boolean {
  return role === "canary" || phase === "Initializing" || phase === "Promoting" || phase === "Finalising";
}

/** When the status of the Canary was last written. */
export function statusTime({ status }: Pick<Canary, "status">): string {
  return status.lastTransitionTime ?? "";
}

/**
 * Whether the deadline of the Canary has passed since the latest of these times. The clocks that wrote them may be minutes apart: a time in
 * the future is ignored, and a time from a slow clock does not end a wait that has just begun. Pure.
 */
export function isOver(times: readonly string[], canary: Pick<Canary, "spec">, nowMs: number): boolean {
  const past = times.map((time) => Date.parse(time)).filter((time) => time <= nowMs);
  return past.length > 0 && Math.max(...past) + deadlineSeconds(canary) * 1_000 < nowMs;
}

function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(status, "conditions").find((condition) => textAt(condition, "type") === type);
}
