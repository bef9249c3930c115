import { mapLimit } from "../core/concurrency.ts";
import { cutText } from "../core/cut-text.ts";
import { isJsonObject } from "../core/json.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import { ApiError, type ListQuery } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { ObservedHealth } from "./check-health.ts";
import { objectAt } from "./fields.ts";

/** Objects that a failed health check explains, each with at most three requests. */
export const maxExplained = 3;
/** The limit for each quoted message of a cluster. */
export const maxQuotedBytes = 500;

/**
 * Why the first of these objects are not healthy, a line each: kstatus' message, the failing container of one of its Pods, and the newest
 * Warning event about the object or that Pod. Read only after a health check has failed. What may not be read, or is not known, is
 * left out; an object of which nothing is known has no line.
 */
export async function whyNotReady(
  unhealthy: readonly ObservedHealth[],
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lines = await mapLimit(
    unhealthy.slice(0, maxExplained),
    maxExplained,
    (one, stop) => explain(one, cluster, stop),
    signal,
  );
  return lines.filter((line) => line !== "");
}

async function explain(
  { ref, message = "", object }: ObservedHealth,
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<string> {
  if (object === undefined) return "";
  const pods = await podsOf(object, cluster, signal);
  const failing = pods.flatMap((pod) => failingContainers(pod).map((text) => ({ pod, text })))[0];
  const pod = failing?.pod ?? pods.find((one) => objectAt(one, "status")["phase"] !== "Running");
  const warning = await newestWarning(pod === undefined || pod === object ? [object] : [object, pod], cluster, signal);
  const parts = [quoted(message), failing?.text ?? "", warning].filter((part) => part !== "");
  return parts.length === 0 ? "" : `${subject(ref)}: ${parts.join("; ")}`;
}

/** On one line, and not longer than is quoted. */
function quoted(text: string): string {
  return cutText(text.trim().replaceAll(/\s+/g, " "), maxQuotedBytes);
}

const owners = new Set(["DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"]);

/** The Pods of an object that may be why it is not healthy. */
async function podsOf(object: LiveObject, cluster: TargetCluster, signal: AbortSignal): Promise<readonly LiveObject[]> {
  if (object.kind === "Pod") return [object];
  const labels = Object.entries(objectAt(object, "spec", "selector", "matchLabels"));
  if (!owners.has(object.kind) || labels.length === 0) return [];
  const labelSelector = labels.map(([key, value]) => `${key}=${String(value)}`).join(",");
  const { namespace = "" } = object.metadata;
  const pods = await readable({ group: "", version: "v1", kind: "Pod", namespace, labelSelector }, cluster, signal);
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Every container waits for these once. */
const ordinary = new Set(["ContainerCreating", "PodInitializing", ""]);

function failingContainers(pod: LiveObject): readonly string[] {
  const { containerStatuses, initContainerStatuses } = objectAt(pod, "status");
  const statuses = [initContainerStatuses, containerStatuses].filter((list) => Array.isArray(list)).flat();
  return statuses.filter(isJsonObject).flatMap((status) => {
    const name = `container ${typeof status["name"] === "string" ? status["name"] : ""} of ${subject(refOf(pod))}`;
    const { reason = "", message = "" } = objectAt(status, "state", "waiting");
    const before = endOf(objectAt(status, "lastState", "terminated"));
    if (typeof reason === "string" && !ordinary.has(reason)) {
      const last = before === "" ? "" : `, its last run ${before}`;
      return [`${name} waits: ${reason}${message === "" ? "" : `: ${quoted(String(message))}`}${last}`];
    }
    const end = endOf(objectAt(status, "state", "terminated"));
    return end === "" ? [] : [`${name} ${end}`];
  });
}

/** How a container has failed; empty if it has not. */
function endOf({ exitCode, reason, message }: { readonly [key: string]: unknown }): string {
  if (typeof exitCode !== "number" || exitCode === 0) return "";
  const said = [reason, message].filter((text) => typeof text === "string" && text !== "").join(": ");
  return `ended with exit code ${exitCode}${said === "" ? "" : ` (${quoted(said)})`}`;
}

async function newestWarning(
  objects: readonly LiveObject[],
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<string> {
  const found = await mapLimit(
    objects,
    2,
    ({ metadata: { namespace = "default", uid } }, stop) => {
      const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
      return readable({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, cluster, stop);
    },
    signal,
  );
  const newest = found.flat().toSorted((a, b) => timeOf(b) - timeOf(a))[0];
  if (newest === undefined) return "";
  const { reason, message } = newest;
  return `Warning ${String(reason)}: ${quoted(String(message))}`;
}

/** When an event was told last, in milliseconds. */
function timeOf(event: LiveObject): number {
  const { lastTimestamp, eventTime, series } = event;
  const { lastObservedTime } = objectAt({ series }, "series");
  const times = [lastTimestamp, lastObservedTime, eventTime, event.metadata.creationTimestamp];
  return Math.max(0, ...times.map((time) => (typeof time === "string" ? Date.parse(time) || 0 : 0)));
}

/** Nothing depends on it: what the account may not read, or the API server does not answer, is left out. */
async function readable(query: ListQuery, cluster: TargetCluster, signal: AbortSignal): Promise<readonly LiveObject[]> {
  try {
    return await cluster.list(query, signal);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}
