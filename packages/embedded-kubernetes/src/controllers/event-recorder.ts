import { randomUUID } from "node:crypto";
import { type ApiObject, StatusError } from "../core/api-object.ts";
import { objectsOf, textOf } from "../core/json-fields.ts";
import type { Log } from "../core/log.ts";
import type { ControllerClient } from "./controller-client.ts";
import { metadataOf, nameOf, namespaceOf, timestamp, uidOf } from "./object-facts.ts";

/** Records in an Event what a controller did about an object, or could not do. Never throws: an Event is a hint. */
export type RecordEvent = (object: ApiObject, type: "Normal" | "Warning", reason: string, message: string) => void;

/** The controller of a real cluster that records Events about a kind. */
const components: Readonly<Record<string, string>> = {
  DaemonSet: "daemonset-controller",
  Deployment: "deployment-controller",
  HorizontalPodAutoscaler: "horizontal-pod-autoscaler",
  Job: "job-controller",
  ReplicaSet: "replicaset-controller",
  StatefulSet: "statefulset-controller",
};
const events = { group: "", resource: "events" };

/** The limits of client-go's `EventCorrelator` (tools/record/events_cache.go). */
const maxDistinct = 10;
const similarForMs = 600_000;
const burst = 25;
const refillMs = 300_000;
const maxRemembered = 4096;

/** `NAME.` and sixteen hexadecimal digits; names of objects have up to 253 characters. */
const maxNamed = 253 - 17;

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Allowance {
  left: number;
  atMs: number;
}

interface Known {
  readonly name: string;
  count: number;
}

/**
 * Writes Events as client-go's recorder does. The same again counts up; the tenth of a reason within ten minutes and what
 * follows are one Event, `(combined from similar events): …`; after 25 about an object there is one every five minutes.
 */
export function eventRecorder(client: ControllerClient, log: Log, now: () => Date): RecordEvent {
  const similar = new Map<string, Similar>();
  const allowances = new Map<string, Allowance>();
  const known = new Map<string, Known>();
  let lastStamp = 0n;

  const combined = (
    key: string,
    message: string,
    nowMs: number,
  ): { readonly key: string; readonly message: string } => {
    const former = similar.get(key);
    const isFresh = former !== undefined && nowMs - former.lastMs <= similarForMs;
    const messages = isFresh ? former.messages : new Set<string>();
    messages.add(message);
    remember(similar, key, { messages, lastMs: nowMs });
    if (messages.size < maxDistinct) return { key: `${key}/${message}`, message };
    messages.delete(message);
    return { key, message: `(combined from similar events): ${message}` };
  };

  const isAllowed = (key: string, nowMs: number): boolean => {
    const former = allowances.get(key) ?? { left: burst, atMs: nowMs };
    const left = Math.min(burst, former.left + (nowMs - former.atMs) / refillMs);
    remember(allowances, key, { left: left < 1 ? left : left - 1, atMs: nowMs });
    return left >= 1;
  };

  const newName = (object: ApiObject, nowMs: number): string => {
    const stamp = BigInt(nowMs) * 1_000_000n;
    lastStamp = stamp > lastStamp ? stamp : lastStamp + 1n;
    return nameOf(object).length > maxNamed ? randomUUID() : `${nameOf(object)}.${lastStamp.toString(16)}`;
  };

  const write = (object: ApiObject, { name, count }: Known, event: ApiObject, time: string): void => {
    const namespace = namespaceOf(object) || "default";
    const written = count > 1 ? client.get(events, namespace, name) : undefined;
    if (written !== undefined) {
      client.update(events, { ...written, message: event["message"] ?? "", count, lastTimestamp: time });
      return;
    }
    const component = components[textOf(object, "kind")] ?? "kube-controller-manager";
    client.create(events, namespace, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: {
        apiVersion: textOf(object, "apiVersion"),
        kind: textOf(object, "kind"),
        name: nameOf(object),
        namespace: namespaceOf(object),
        uid: uidOf(object),
        resourceVersion: textOf(metadataOf(object), "resourceVersion"),
      },
      ...event,
      source: { component },
      reportingComponent: component,
      reportingInstance: "",
      firstTimestamp: time,
      lastTimestamp: time,
      count,
      eventTime: null,
    });
  };

  return (object, type, reason, told) => {
    const at = now();
    const nowMs = at.getTime();
    const about = `${uidOf(object)}/${type}`;
    const { key, message } = combined(`${about}/${reason}`, told, nowMs);
    const former = known.get(key);
    const event = { name: former?.name ?? newName(object, nowMs), count: (former?.count ?? 0) + 1 };
    remember(known, key, event);
    if (!isAllowed(about, nowMs)) return;
    try {
      write(object, event, { type, reason, message }, timestamp(at));
    } catch (error) {
      if (isOfEndingNamespace(error)) return;
      log.warn("event of a controller not written", { object: nameOf(object), reason, error: String(error) });
    }
  };
}

/** Whether a write failed because its namespace is being deleted, or is gone: nothing more can be made in it. */
export function isOfEndingNamespace(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  const causes = objectsOf(error.details, "causes").map((cause) => textOf(cause, "reason"));
  return (
    causes.includes("NamespaceTerminating") || (error.code === 404 && textOf(error.details, "kind") === "namespaces")
  );
}

/** What was not asked for longest is forgotten. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= maxRemembered) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
