import type { ApiObject, Gvk } from "../api-object.ts";
import { convertBuiltin } from "../fields/convert-builtin.ts";
import { convertEvent } from "./convert-event.ts";
import { apiVersionOf } from "./resource.ts";

/**
 * The object in another version of its kind. Custom resources have the conversion strategy None: only `apiVersion`
 * changes. Equal versions give the same object.
 */
export function convertObject(object: ApiObject, from: Gvk, to: Gvk): ApiObject {
  if (from.group === to.group && from.version === to.version) return object;
  const apiVersion = apiVersionOf(to);
  if (to.kind === "Event" && (to.group === "" || to.group === "events.k8s.io")) return convertEvent(object, apiVersion);
  return convertBuiltin(object, apiVersion);
}
