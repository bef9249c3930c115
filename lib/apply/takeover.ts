import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { ManagedFieldsEntry, Metadata } from "../core/manifest.ts";
import { fieldManager, isTakenOver, ownEntry } from "./field-managers.ts";
import { isMerged } from "./opt-outs.ts";

const formerAnnotations = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "kustomize.toolkit.fluxcd.io/checksum",
  "fluxcd.io/sync-checksum",
];
const formerLabels = ["fluxcd.io/sync-gc-mark"];

/**
 * The JSON patch that makes an object that kubectl or an older deployer wrote ours, so that the apply after it removes what
 * they set and the manifest does not (reference 3.14, step 7). Undefined where there is nothing to take over.
 */
export function takeover(live: Metadata, desired: Metadata, apiVersion: string): readonly JsonObject[] | undefined {
  if (isMerged(live) || isMerged(desired)) return undefined;
  const patch: JsonObject[] = [
    ...formerAnnotations
      .filter((key) => live.annotations?.[key] !== undefined)
      .map((key) => remove("annotations", key)),
    ...formerLabels.filter((key) => live.labels?.[key] !== undefined).map((key) => remove("labels", key)),
  ];
  const managedFields = live.managedFields ?? [];
  if (managedFields.some(isTakenOver)) {
    patch.push({ op: "replace", path: "/metadata/managedFields", value: mergedInto(managedFields, apiVersion) });
  }
  if (patch.length === 0) return undefined;
  // The rewritten managed fields are only right for the state that they were read from.
  const guard = live.resourceVersion === undefined ? [] : [replaceResourceVersion(live.resourceVersion)];
  return [...patch, ...guard];
}

function remove(map: "annotations" | "labels", key: string): JsonObject {
  return { op: "remove", path: `/metadata/${map}/${key.replaceAll("/", "~1")}` };
}

function replaceResourceVersion(value: string): JsonObject {
  return { op: "replace", path: "/metadata/resourceVersion", value };
}

/** All entries, those taken over merged into our own Apply entry. */
function mergedInto(entries: readonly ManagedFieldsEntry[], apiVersion: string): Json {
  const taken = entries.filter(isTakenOver);
  const own = ownEntry(entries);
  const others = entries.filter((entry) => entry !== own && !isTakenOver(entry));
  const time = own?.time ?? taken[0]?.time;
  const merged = {
    manager: fieldManager,
    operation: "Apply",
    apiVersion: own?.apiVersion ?? apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: [own, ...taken].reduce<JsonObject>((fields, entry) => union(fields, entry?.fieldsV1 ?? {}), {}),
  };
  return [...others.map((entry) => ({ ...entry })), merged];
}

/** Field sets are nested objects whose leaves are empty objects, so their union is a deep merge. */
function union(a: JsonObject, b: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const present = result[key];
    result[key] = isJsonObject(present) && isJsonObject(value) ? union(present, value) : value;
  }
  return result;
}
