import type { ApiObject, Gvk } from "../core/api-object.ts";
import type { Json } from "../core/json.ts";
import { convertBuiltin } from "../fields/convert-builtin.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import { canonicalObject } from "../rules/canonical-object.ts";

/** A version to convert to; a custom one that is served has its schema. */
type Version = Gvk & Partial<Pick<Resource, "custom" | "schema">>;

/**
 * The object in another version of its kind. Custom resources have the conversion strategy None: `apiVersion` changes,
 * and what the other version's schema does not know is not there. Equal versions give the same object.
 */
export function convertObject(object: ApiObject, from: Gvk, to: Version): ApiObject {
  if (from.group === to.group && from.version === to.version) return object;
  const apiVersion = apiVersionOf(to);
  if (to.kind === "Event" && (to.group === "" || to.group === "events.k8s.io")) return convertEvent(object, apiVersion);
  const converted = convertBuiltin(object, apiVersion);
  return to.custom === undefined || to.schema === undefined ? converted : canonicalObject(converted, to, to.schema());
}

/** The fields of an Event that the core and `events.k8s.io` name differently, the core's name first. */
const names: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

/** An Event in the other of its two API groups: one object under two names. */
function convertEvent(event: ApiObject, apiVersion: string): ApiObject {
  const toCore = apiVersion === "v1";
  const renamed = new Map(names.map(([core, other]) => (toCore ? [other, core] : [core, other])));
  const fields = Object.entries(event).map(([field, value]): [string, Json] => [renamed.get(field) ?? field, value]);
  return { ...Object.fromEntries(fields), apiVersion };
}
