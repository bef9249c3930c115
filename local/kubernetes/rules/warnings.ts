import type { ApiObject, Gvk } from "../api-object.ts";

/** The texts of the Warning headers (without `299 - `) that a create or update of this object answers with. */
export function warningsFor(_object: ApiObject, _gvk: Gvk, _old: ApiObject | undefined): readonly string[] {
  return [];
}
