import type { ApiObject, Gvk } from "../api-object.ts";
import { convertBuiltin } from "../fields/convert-builtin.ts";
import { canonicalObject } from "../rules/canonical-object.ts";
import { convertEvent } from "./convert-event.ts";
import { apiVersionOf, type Resource } from "./resource.ts";

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
