import type { Json } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";

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
export function convertEvent(event: ApiObject, apiVersion: string): ApiObject {
  const toCore = apiVersion === "v1";
  const renamed = new Map(names.map(([core, other]) => (toCore ? [other, core] : [core, other])));
  const fields = Object.entries(event).map(([field, value]): [string, Json] => [renamed.get(field) ?? field, value]);
  return { ...Object.fromEntries(fields), apiVersion };
}
