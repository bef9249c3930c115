import { z } from "zod";
import { isJsonObject, type Json, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";

/** Written by controllers of the cluster. */
const foreignAnnotations = new Set(["deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"]);

/** Values that differ from run to run, in the words of the recordings. */
export interface Words {
  /** UIDs of the Canaries: no other owner is expected. */
  readonly owners: ReadonlySet<string>;
  /** By value, in the order in which they were first seen. Grows. */
  readonly flaggerIds: Map<string, string>;
}

/** A live Canary in the form of the recordings. */
export function shownCanary({ apiVersion, kind, metadata, spec, status }: LiveObject): JsonObject {
  const { name, namespace } = metadata;
  return toJsonObject({
    ...{ apiVersion, kind, metadata: { name, namespace }, spec },
    status: withTimes(isJsonObject(status) ? status : {}),
  });
}

function withTimes(value: Json): Json {
  if (isList(value)) return value.map(withTimes);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, field]) => [key, isTime(key, field) ? "<time>" : withTimes(field)]);
  return z.custom<JsonObject>(isJsonObject).parse(Object.fromEntries(entries));
}

function isTime(key: string, value: Json): boolean {
  const isNamedSo = key === "lastTransitionTime" || key === "lastUpdateTime";
  return isNamedSo && typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
}

/** A live object of the namespace in the form of the recordings: what its owner has written of it. */
export function shownObject(live: LiveObject, words: Words): JsonObject {
  const { apiVersion, kind, metadata, spec, data, status } = live;
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  const own = Object.entries(annotations ?? {}).filter(([key]) => !foreignAnnotations.has(key));
  const shown = {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, namespace },
      ...(labels === undefined ? {} : { labels }),
      ...(own.length === 0 ? {} : { annotations: Object.fromEntries(own) }),
      ...(ownerReferences === undefined
        ? {}
        : { ownerReferences: ownerReferences.map((one) => ({ ...one, uid: ownerWord(one.uid, words) })) }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    ...(spec === undefined ? {} : { spec }),
    ...(data === undefined ? {} : { data }),
    ...(kind === "HTTPRoute" && status !== undefined ? { status } : {}),
  };
  return inWords(toJsonObject(shown), words);
}

function ownerWord(uid: string, { owners }: Words): string {
  return owners.has(uid) ? "<uid>" : uid;
}

function inWords(object: JsonObject, words: Words): JsonObject {
  const entries = Object.entries(object).map(([key, value]) => [key, wordOf(key, value, words)]);
  return z.custom<JsonObject>(isJsonObject).parse(Object.fromEntries(entries));
}

function wordOf(key: string, value: Json, words: Words): Json {
  if (key === "flagger-id" && typeof value === "string") return flaggerIdWord(value, words);
  if (key === "clusterIP" && typeof value === "string" && value !== "None") return "<address>";
  if (key === "clusterIPs" && isList(value)) return value.map((one) => (one === "None" ? one : "<address>"));
  if (isList(value)) return value.map((one) => (isJsonObject(one) ? inWords(one, words) : one));
  return isJsonObject(value) ? inWords(value, words) : value;
}

function flaggerIdWord(value: string, { flaggerIds }: Words): string {
  const word = flaggerIds.get(value) ?? `<flagger-id-${flaggerIds.size + 1}>`;
  flaggerIds.set(value, word);
  return word;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** An Event of a Canary, which is counted up when it is told again. */
export const CanaryEvent = z.object({
  metadata: z.object({ name: z.string(), resourceVersion: z.string() }),
  involvedObject: z.object({ kind: z.literal("Canary"), name: z.string() }),
  reason: z.literal("Synced"),
  source: z.object({ component: z.literal("flagger") }),
  type: z.enum(["Normal", "Warning"]),
  message: z.string(),
  count: z.int().default(1),
});
export type CanaryEvent = z.infer<typeof CanaryEvent>;
