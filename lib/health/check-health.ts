import { CelFault, type CelHealth } from "../cel/cel.ts";
import { mapLimit } from "../core/concurrency.ts";
import { someOf } from "../core/cut-text.ts";
import { messageOf } from "../core/failure.ts";
import { toJsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { refOf } from "../core/manifest.ts";
import { refKey, subject, type VersionedRef } from "../core/object-ref.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import { objectAt, type Status } from "./fields.ts";
import { evaluationFailure, type HealthRules } from "./health-rules.ts";
import { isFailedPod, kstatus } from "./kstatus.ts";
import { attendedWithinMs, isUnattended, lastChangeOf, unattendedText } from "./unattended.ts";

/** One object whose health is awaited. */
export interface HealthTarget {
  readonly ref: VersionedRef;
  /** A Job with `spec.ttlSecondsAfterFinished`: if it no longer exists, it counts as Current. */
  readonly mayVanish: boolean;
}

export interface ObservedHealth {
  readonly ref: VersionedRef;
  readonly status: Status;
  /** Why the status is Unknown. */
  readonly error?: string;
  /** kstatus' message, which says why the object is not Current. */
  readonly message?: string;
  /** The object, unless it is Current or was not found. */
  readonly object?: LiveObject;
  /** Only where Sluice does not reconcile the object and nothing else does: its health stays Unknown, so nothing waits for it. */
  readonly isUnattended?: true;
}

export interface HealthDeps {
  readonly cluster: TargetCluster;
  /** Wall time in milliseconds. */
  readonly now: number;
  /** Since when health is waited for; `now` if absent. */
  readonly since?: number;
  /** Labels that all targets have in common: with them several targets of a kind are read by one list. */
  readonly labelSelector?: string;
  readonly rules: HealthRules;
}

/**
 * Reads every target once. An error of the API server about one target becomes the status of that target.
 *
 * @throws Failure of reason `HealthCheckFailed` if a health rule takes too long: the next look would not be faster
 */
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
  // In the order of the targets, which the messages keep.
  const byKey = new Map(observed.flat().map((health) => [refKey(health.ref), health]));
  return targets.flatMap(({ ref }) => byKey.get(refKey(ref)) ?? []);
}

async function observeKind(
  targets: readonly HealthTarget[],
  deps: HealthDeps,
  signal: AbortSignal,
): Promise<readonly ObservedHealth[]> {
  const [first] = targets;
  if (first === undefined) return [];
  const listed =
    targets.length === 1 || deps.labelSelector === undefined
      ? undefined
      : await listByKey(first.ref, deps.labelSelector, deps.cluster, signal);
  const rule = deps.rules.ruleOf(first.ref);
  const judge = async (object: LiveObject, stop: AbortSignal): Promise<Judged> =>
    rule === undefined ? judgeBuiltIn(object, deps, stop) : { status: "Unknown", object };
  const observed = await mapLimit(
    targets,
    8,
    (target, stop) => observe(target, listed?.get(refKey(target.ref)), (object) => judge(object, stop), deps, stop),
    signal,
  );
  return rule === undefined ? observed : judgeByRule(observed, rule, signal);
}

type Judged = Omit<ObservedHealth, "ref">;

/** All objects of a kind in one go. */
async function judgeByRule(
  observed: readonly ObservedHealth[],
  rule: CelHealth,
  signal: AbortSignal,
): Promise<readonly ObservedHealth[]> {
  const read = observed.flatMap(({ ref, object }) => (object === undefined ? [] : [{ ref, object }]));
  const statuses = await rule
    .statuses(
      read.map(({ object }) => toJsonObject(object)),
      signal,
    )
    .catch((error: unknown) => {
      throw evaluationFailure(error);
    });
  const tooLong = statuses.find((status) => status instanceof CelFault && status.reason === "limit");
  if (tooLong !== undefined) throw evaluationFailure(tooLong);
  const judged = new Map(
    read.map(({ ref, object }, index): [string, ObservedHealth] => {
      const status = statuses[index];
      if (status === "Current") return [refKey(ref), { ref, status }];
      if (typeof status === "string") return [refKey(ref), { ref, status, object }];
      return [refKey(ref), { ref, status: "Unknown", error: status?.message ?? "no status", object }];
    }),
  );
  return observed.map((health) => judged.get(refKey(health.ref)) ?? health);
}

/** Several targets of a kind by one request; undefined if the API server answers with an error: then each is read by itself. */
async function listByKey(
  { group, version, kind, namespace }: VersionedRef,
  labelSelector: string,
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, LiveObject> | undefined> {
  const within = namespace === "" ? {} : { namespace };
  try {
    const objects = await cluster.list({ group, version, kind, labelSelector, ...within }, signal);
    return new Map(objects.map((object) => [refKey(refOf(object)), object]));
  } catch (error) {
    if (error instanceof ApiError && error.code > 0) return undefined;
    throw error;
  }
}

async function observe(
  { ref, mayVanish }: HealthTarget,
  listed: LiveObject | undefined,
  judge: (object: LiveObject) => Promise<Judged>,
  { cluster }: HealthDeps,
  signal: AbortSignal,
): Promise<ObservedHealth> {
  try {
    const object = listed ?? (await cluster.get(ref, signal));
    if (object === undefined) return { ref, status: mayVanish ? "Current" : "NotFound" };
    return { ref, ...(await judge(object)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Flux looks up kinds without their version.
    const unserved = `no matches for kind "${ref.kind}" in group "${ref.group}"`;
    return { ref, status: "Unknown", error: error.reason === "NoMatch" ? unserved : messageOf(error) };
  }
}

async function judgeBuiltIn(object: LiveObject, deps: HealthDeps, signal: AbortSignal): Promise<Judged> {
  const { cluster, now } = deps;
  const { status, message } = kstatus(object, now);
  if (isLeftAlone(object, status, deps)) {
    return { status: "Unknown", error: unattendedText(object), object, isUnattended: true };
  }
  switch (status) {
    case "Current":
      return { status };
    case "Unknown":
      return { status, error: message, object };
    case "InProgress": {
      const isFailed = await hasFailedPod(object, cluster, signal);
      return { status: isFailed ? "Failed" : status, message, object };
    }
    case "Failed":
    case "NotFound":
    case "Terminating":
      return { status, message, object };
  }
}

/** Whether Sluice does not reconcile the object, and no other controller has come to it in the time that one takes. */
function isLeftAlone(object: LiveObject, status: Status, { now, rules, since = now }: HealthDeps): boolean {
  if (!rules.isUnreconciled(refOf(object)) || !isUnattended(object)) return false;
  // Without a status it counts as Current for kstatus: there is nothing to wait for.
  if (status === "Current") return true;
  return status === "InProgress" && now - Math.min(lastChangeOf(object), since) >= attendedWithinMs;
}

/** StatefulSets and ReplicaSets fail with their Pods, a Deployment only by its progress deadline. */
async function hasFailedPod(object: LiveObject, cluster: TargetCluster, signal: AbortSignal): Promise<boolean> {
  if (object.kind !== "StatefulSet" && object.kind !== "ReplicaSet") return false;
  const labels = Object.entries(objectAt(object, "spec", "selector", "matchLabels"));
  if (labels.length === 0) return false;
  const labelSelector = labels.map(([key, value]) => `${key}=${String(value)}`).join(",");
  const namespace = object.metadata.namespace ?? "";
  const pods = await cluster.list({ group: "", version: "v1", kind: "Pod", namespace, labelSelector }, signal);
  return pods.some(isFailedPod);
}

/** A message of Flux, and the objects that it names. */
export interface Unhealthy {
  readonly message: string;
  readonly unhealthy: readonly ObservedHealth[];
  /** Also those that the message does not name: if one has failed, the others may still be waiting for it, or it for them. */
  readonly notCurrent: readonly ObservedHealth[];
}

export type Verdict =
  /** `unknown`: those that nothing reconciles. */
  | { readonly kind: "healthy"; readonly unknown: readonly ObservedHealth[] }
  | (Unhealthy & { readonly kind: "waiting" })
  | (Unhealthy & { readonly kind: "failed" });

/**
 * One verdict over all observations: healthy if all are Current, apart from objects that are not reconciled; failed as soon as one is
 * Failed (fail-fast, Flux's default), or once each is Current or Failed; else waiting, with the message of a timeout. Pure.
 */
export function verdict(observed: readonly ObservedHealth[], { isFailFast } = { isFailFast: true }): Verdict {
  const failed = observed.filter(({ status }) => status === "Failed");
  const pending = observed.filter(({ status, isUnattended: isAlone }) => status !== "Current" && isAlone !== true);
  if (failed.length > 0 && (isFailFast || failed.length === pending.length))
    return {
      kind: "failed",
      message: `failed early due to stalled resources: [${items(failed)}]`,
      unhealthy: failed,
      notCurrent: pending,
    };
  if (pending.length === 0) return { kind: "healthy", unknown: observed.filter((one) => one.isUnattended === true) };
  return {
    kind: "waiting",
    message: `timeout waiting for: [${items(pending)}]`,
    unhealthy: pending,
    notCurrent: pending,
  };
}

function items(observed: readonly ObservedHealth[]): string {
  return observed.map(item).join(", ");
}

function item({ ref, status, error }: ObservedHealth): string {
  return `${subject(ref)} status: '${status}'${error === undefined ? "" : `: ${error}`}`;
}

const maxNamedUnknown = 10;

/** The objects of unknown health, each with the reason; undefined if there are none. Pure. */
export function unknownText(unknown: readonly ObservedHealth[]): string | undefined {
  if (unknown.length === 0) return undefined;
  return `Health is not known of [${someOf(unknown.map(item), maxNamedUnknown)}]`;
}
