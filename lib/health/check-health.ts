import { messageOf } from "../core/failure.ts";
import type { LiveObject } from "../core/manifest.ts";
import { refOf } from "../core/manifest.ts";
import { mapLimit } from "../core/map-limit.ts";
import { refKey, subject, type VersionedRef } from "../core/object-ref.ts";
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

export interface HealthDeps {
  readonly cluster: Cluster;
  /** Wall time in milliseconds. */
  readonly now: number;
  /** Selects all targets where they have labels in common: several of a kind are then read by one list. */
  readonly labelSelector?: string;
}

/** Looks once at every target. Never throws for what one of them answers: that is its status. */
export async function checkHealth(
  targets: readonly HealthTarget[],
  deps: HealthDeps,
  signal: AbortSignal,
): Promise<readonly ObservedHealth[]> {
  const byKind = Map.groupBy(targets, ({ ref }) => `${ref.group}/${ref.version}/${ref.kind}/${ref.namespace}`);
  const observed = await mapLimit(
    [...byKind.values()],
    8,
    (sameKind, stop) => observeKind(sameKind, deps, stop),
    signal,
  );
  // In the targets' order, which the messages keep.
  const byKey = new Map(observed.flat().map((health) => [refKey(health.ref), health]));
  return targets.flatMap(({ ref }) => byKey.get(refKey(ref)) ?? []);
}

async function observeKind(
  targets: readonly HealthTarget[],
  deps: HealthDeps,
  signal: AbortSignal,
): Promise<readonly ObservedHealth[]> {
  const [first] = targets;
  const listed =
    first === undefined || targets.length === 1 || deps.labelSelector === undefined
      ? undefined
      : await listByKey(first.ref, deps.labelSelector, deps.cluster, signal);
  return mapLimit(targets, 8, (target, stop) => observe(target, listed?.get(refKey(target.ref)), deps, stop), signal);
}

/** Several of a kind by one request; undefined where listing is forbidden, then each is read alone. */
async function listByKey(
  { group, version, kind, namespace }: VersionedRef,
  labelSelector: string,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, LiveObject> | undefined> {
  const within = namespace === "" ? {} : { namespace };
  try {
    const objects = await cluster.list({ group, version, kind, labelSelector, ...within }, signal);
    return new Map(objects.map((object) => [refKey(refOf(object)), object]));
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") return undefined;
    throw error;
  }
}

async function observe(
  { ref, mayVanish }: HealthTarget,
  listed: LiveObject | undefined,
  { cluster, now }: HealthDeps,
  signal: AbortSignal,
): Promise<ObservedHealth> {
  try {
    const object = listed ?? (await cluster.get(ref, signal));
    if (object === undefined) return { ref, status: mayVanish ? "Current" : "NotFound" };
    const status = kstatus(object, now);
    return {
      ref,
      status: status === "InProgress" && (await hasFailedPod(object, cluster, signal)) ? "Failed" : status,
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Flux looks kinds up without their version.
    const unserved = `no matches for kind "${ref.kind}" in group "${ref.group}"`;
    return { ref, status: "Unknown", error: error.reason === "NoMatch" ? unserved : messageOf(error) };
  }
}

/** StatefulSets and ReplicaSets fail with their Pods; a Deployment only by its progress deadline. */
async function hasFailedPod(object: LiveObject, cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  if (object.kind !== "StatefulSet" && object.kind !== "ReplicaSet") return false;
  const labels = Object.entries(objectAt(object, "spec", "selector", "matchLabels"));
  if (labels.length === 0) return false;
  const labelSelector = labels.map(([key, value]) => `${key}=${String(value)}`).join(",");
  const namespace = object.metadata.namespace ?? "";
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
