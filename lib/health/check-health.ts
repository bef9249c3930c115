import { messageOf } from "../core/failure.ts";
import type { LiveObject } from "../core/manifest.ts";
import { mapLimit } from "../core/map-limit.ts";
import { subject, type VersionedRef } from "../core/object-ref.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import { objectAt } from "./fields.ts";
import { kstatus } from "./kstatus.ts";
import { isFailedPod } from "./pod-status.ts";
import type { Status } from "./status.ts";

/** One object whose health is awaited. */
export interface HealthTarget {
  readonly ref: VersionedRef;
  /** A Job with `spec.ttlSecondsAfterFinished`: when it is gone, it has ended well. */
  readonly mayVanish: boolean;
}

export interface ObservedHealth {
  readonly ref: VersionedRef;
  readonly status: Status;
  /** Why it could not be told, where it could not. */
  readonly error?: string;
}

/** Looks once at every target. Never throws for what one of them answers: that is its status. */
export async function checkHealth(
  targets: readonly HealthTarget[],
  cluster: Cluster,
  now: number,
  signal: AbortSignal,
): Promise<readonly ObservedHealth[]> {
  return mapLimit(targets, 8, (target, stop) => observe(target, cluster, now, stop), signal);
}

async function observe(
  { ref, mayVanish }: HealthTarget,
  cluster: Cluster,
  now: number,
  signal: AbortSignal,
): Promise<ObservedHealth> {
  try {
    const object = await cluster.get(ref, signal);
    if (object === undefined) return { ref, status: mayVanish ? "Current" : "NotFound" };
    const status = kstatus(object, now);
    return {
      ref,
      status: status === "InProgress" && (await hasFailedPod(object, cluster, signal)) ? "Failed" : status,
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ref, status: "Unknown", error: messageOf(error) };
  }
}

/** StatefulSets and ReplicaSets fail with their Pods; a Deployment only by its progress deadline. */
async function hasFailedPod(object: LiveObject, cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  const { metadata } = object;
  const { replicas } = objectAt(object, "status");
  if ((object.kind !== "StatefulSet" && object.kind !== "ReplicaSet") || replicas === undefined) return false;
  const labels = Object.entries(objectAt(object, "spec", "selector", "matchLabels"));
  if (labels.length === 0) return false;
  const labelSelector = labels.map(([key, value]) => `${key}=${String(value)}`).join(",");
  const namespace = metadata.namespace ?? "";
  const pods = await cluster.list({ group: "", version: "v1", kind: "Pod", namespace, labelSelector }, signal);
  return pods.some(isFailedPod);
}

export type Verdict =
  | { readonly kind: "healthy" }
  | { readonly kind: "waiting"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/**
 * What the observations come to: healthy when all are Current; failed as soon as one is Failed (fail-fast, Flux's default),
 * else waiting with the text that a timeout would give. Pure.
 */
export function verdict(observed: readonly ObservedHealth[]): Verdict {
  const failed = observed.filter(({ status }) => status === "Failed");
  if (failed.length > 0)
    return { kind: "failed", message: `failed early due to stalled resources: [${items(failed)}]` };
  const pending = observed.filter(({ status }) => status !== "Current");
  if (pending.length === 0) return { kind: "healthy" };
  return { kind: "waiting", message: `timeout waiting for: [${items(pending)}]` };
}

function items(observed: readonly ObservedHealth[]): string {
  return observed
    .map(({ ref, status, error }) => `${subject(ref)} status: '${status}'${error === undefined ? "" : `: ${error}`}`)
    .join(", ");
}
