import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { difference, type FieldSet, intersection, isEmpty, isSubset, union } from "./field-set.ts";
import { fieldSetOf } from "./field-set-of.ts";
import type { Manager, Managers } from "./managers.ts";
import { removeFields, withDeclaredParents } from "./remove-fields.ts";
import type { Versions } from "./versions.ts";

/**
 * Takes out of the merged object what the applier owned before, in whichever version, and no manager
 * owns now. Fields without an owner stay if the fields around them do.
 */
export function pruneFields(
  merged: ApiObject,
  last: Manager | undefined,
  managers: Managers,
  apiVersion: string,
  versions: Versions,
): ApiObject {
  if (last === undefined || isEmpty(last.set) || ownsAllOf(last, managers)) return merged;
  const schema = versions.schemaOf(last.apiVersion);
  const lastMerged = versions.convert(merged, last.apiVersion);
  if (schema === undefined || lastMerged === undefined) return merged;
  const lastSet = withDeclaredParents(last.set, schema);
  const pruned = asObject(removeFields(lastMerged, lastSet, schema));
  const restored = addBackOwned(lastMerged, pruned, last.apiVersion, managers, versions);
  const restoredSet = wholeSetOf(restored, schema);
  const mergedSet = wholeSetOf(lastMerged, schema);
  const gone = intersection(difference(mergedSet, restoredSet), lastSet);
  const result = asObject(removeFields(lastMerged, gone, schema));
  return versions.convert(result, apiVersion) ?? merged;
}

/** Nothing is dropped: the quick and usual end. */
function ownsAllOf(last: Manager, managers: Managers): boolean {
  return [...managers.values()].some(
    ({ apiVersion, set }) => apiVersion === last.apiVersion && isSubset(last.set, set),
  );
}

/** Puts back what another manager owns, the applier's new fields too, version by version, that of the removal first. */
function addBackOwned(
  merged: ApiObject,
  pruned: ApiObject,
  prunedVersion: string,
  managers: Managers,
  { convert, schemaOf }: Versions,
): ApiObject {
  const owned = new Map<string, FieldSet>();
  for (const { apiVersion, set } of managers.values()) {
    const known = owned.get(apiVersion);
    owned.set(apiVersion, known === undefined ? set : union(known, set));
  }
  const order = [...owned.keys()].sort((a, b) => Number(b === prunedVersion) - Number(a === prunedVersion));
  const last = order.reduce((kept, version) => {
    const schema = schemaOf(version);
    const [all, rest] = [convert(merged, version), convert(kept, version)];
    const set = owned.get(version);
    if (schema === undefined || all === undefined || rest === undefined || set === undefined) return kept;
    const allSet = wholeSetOf(all, schema);
    const restSet = wholeSetOf(rest, schema);
    const removable = difference(allSet, union(restSet, withDeclaredParents(set, schema)));
    return asObject(removeFields(all, removable, schema));
  }, pruned);
  return convert(last, prunedVersion) ?? pruned;
}

/** The fields of the object, each with the declared fields that hold it. */
function wholeSetOf(object: ApiObject, schema: TypeSchema): FieldSet {
  return withDeclaredParents(fieldSetOf(object, schema), schema);
}

function asObject(value: Json): ApiObject {
  return isJsonObject(value) ? value : {};
}
