import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { ManagedFieldsEntry, Manifest, Metadata } from "../core/manifest.ts";
import type { ApplyRules } from "./set/apply-rules.ts";
import { isTakenOver, ownEntry } from "./set/field-managers.ts";

const formerAnnotations = [
  "kubectl.kubernetes.io/last-applied-configuration",
  "kustomize.toolkit.fluxcd.io/checksum",
  "fluxcd.io/sync-checksum",
];
const formerLabels = ["fluxcd.io/sync-gc-mark"];

/** The changes to an object right before its apply. */
export interface Takeover {
  /** A JSON patch. */
  readonly patch: readonly JsonObject[];
  /** Whether managed fields move to another API version: a step of its own in Flux, with an error of its own. */
  readonly migrates: boolean;
}

/**
 * Takes over an object that kubectl or an older deployer wrote, so that the next apply removes fields that they set and the manifest does
 * not have (reference 3.14, step 7). If the installation asks for it, also moves all managed fields, whatever owns them, to the API version
 * that is applied (step 4). Undefined where there is nothing to change.
 */
export function takeover(
  live: Metadata,
  { apiVersion, metadata: desired }: Pick<Manifest, "apiVersion" | "metadata">,
  rules: ApplyRules,
): Takeover | undefined {
  const managedFields = live.managedFields ?? [];
  const migrates = rules.migratesApiVersion && managedFields.some((entry) => entry.apiVersion !== apiVersion);
  const { isMerged } = rules.style.optOuts;
  const isLeft = isMerged(live) || isMerged(desired);
  const taken = isLeft ? [] : managedFields.filter((entry) => isTakenOver(entry, rules));
  const patch: JsonObject[] = isLeft ? [] : formerMarks(live);
  if (taken.length > 0 || migrates) {
    const entries = taken.length === 0 ? managedFields : mergedInto(managedFields, taken, apiVersion, rules);
    const value: Json = entries.map((entry) => (migrates ? { ...entry, apiVersion } : { ...entry }));
    patch.push({ op: "replace", path: "/metadata/managedFields", value });
  }
  if (patch.length === 0) return undefined;
  // The rewritten managed fields are only right for the state that they were read from.
  const guard = live.resourceVersion === undefined ? [] : [replaceResourceVersion(live.resourceVersion)];
  return { patch: [...patch, ...guard], migrates };
}

function formerMarks({ annotations, labels }: Metadata): JsonObject[] {
  return [
    ...formerAnnotations.filter((key) => annotations?.[key] !== undefined).map((key) => remove("annotations", key)),
    ...formerLabels.filter((key) => labels?.[key] !== undefined).map((key) => remove("labels", key)),
  ];
}

function remove(map: "annotations" | "labels", key: string): JsonObject {
  return { op: "remove", path: `/metadata/${map}/${key.replaceAll("/", "~1")}` };
}

function replaceResourceVersion(value: string): JsonObject {
  return { op: "replace", path: "/metadata/resourceVersion", value };
}

/** All entries, those taken over merged into our own Apply entry. */
function mergedInto(
  entries: readonly ManagedFieldsEntry[],
  taken: readonly ManagedFieldsEntry[],
  apiVersion: string,
  { style }: Pick<ApplyRules, "style">,
): readonly ManagedFieldsEntry[] {
  const own = ownEntry(entries, style);
  const others = entries.filter((entry) => entry !== own && !taken.includes(entry));
  const time = own?.time ?? taken[0]?.time;
  const merged: ManagedFieldsEntry = {
    manager: style.manager,
    operation: "Apply",
    apiVersion: own?.apiVersion ?? apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: [own, ...taken].reduce<JsonObject>((fields, entry) => union(fields, entry?.fieldsV1 ?? {}), {}),
  };
  return [...others, merged];
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
