import { z } from "zod";
import { isJsonObject, type Json, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";

/**
 * What one step left: Flux's own objects whole, the events that are new, the objects that it applied, and of a given recording what
 * some of those hold.
 */
export interface Shown {
  readonly objects: readonly JsonObject[];
  readonly events: readonly JsonObject[];
  readonly managed: readonly JsonObject[];
  readonly notes?: JsonObject;
}

const Event = z.object({
  involvedObject: z.object({ kind: z.string(), name: z.string() }),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  reportingComponent: z.string(),
});

export function shownEvent(event: LiveObject): JsonObject {
  const { involvedObject, type, reason, message, reportingComponent: source } = Event.parse(event);
  const { annotations = {} } = event.metadata;
  const about = { object: `${involvedObject.kind}/${involvedObject.name}`, type, reason, message, source };
  return Object.keys(annotations).length === 0 ? about : { ...about, annotations };
}

/**
 * Whether an event says again why a GitRepository or HelmRepository failed: a retry may come between a push and the request that follows it, and
 * then both runs tell the same.
 */
export function isRepeated(event: LiveObject, before: readonly LiveObject[]): boolean {
  const { object, type, reason, message } = shownEvent(event);
  if (type !== "Warning" || typeof object !== "string" || !/^(?:Git|Helm)Repository\//.test(object)) return false;
  const last = before.map(shownEvent).findLast((one) => one["object"] === object);
  return last !== undefined && last["reason"] === reason && last["message"] === message;
}

/** What clusters do by themselves, each in its own time. */
const ofTheCluster = new Set([
  "kube-controller-manager",
  "kube-scheduler",
  "kube-apiserver",
  "kwok",
  "kwok-controller",
]);
const volatile = new Set(["uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp"]);

/** An applied object without its status, and with whole managed fields only of the controller that applied it. */
export function shownManaged(live: LiveObject): JsonObject {
  const { status: _status, metadata = {}, ...object } = toJsonObject(live);
  const kept = Object.entries(isJsonObject(metadata) ? metadata : {}).filter(([key]) => !volatile.has(key));
  return {
    ...renamed(object, (text) => text.replaceAll(/("[\w./]*controller-uid"):"[0-9a-f-]+"/g, '$1:"<uid>"')),
    metadata: Object.fromEntries(kept.map(([key, value]) => [key, key === "managedFields" ? managers(value) : value])),
  };
}

/** The same object after its text was changed. */
export function renamed(object: JsonObject, change: (text: string) => string): JsonObject {
  return toJsonObject(z.record(z.string(), z.json()).parse(JSON.parse(change(JSON.stringify(object)))));
}

function managers(entries: Json): Json {
  if (!Array.isArray(entries)) return entries;
  return entries
    .filter(isJsonObject)
    .filter(
      ({ manager, subresource }) =>
        typeof manager === "string" && !ofTheCluster.has(manager) && subresource !== "status",
    )
    .map(({ manager = "", operation = "", apiVersion = "", fieldsV1 = {} }) => {
      const entry = { manager, operation, apiVersion };
      return manager === "kustomize-controller" ? { ...entry, fields: fieldsV1 } : entry;
    });
}
