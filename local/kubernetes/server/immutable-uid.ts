import type { Json } from "../../../lib/core/json.ts";
import type { StatusError } from "../api-object.ts";
import { invalidValue } from "../rules/field-errors.ts";
import { invalid } from "../rules/invalid.ts";
import type { Resource } from "./resource.ts";

/** The 422 of a patch that names another uid: said twice, because an update checks the metadata twice. */
export function immutableUid(resource: Resource, name: string, uid: Json | undefined): StatusError {
  const error = invalidValue("metadata.uid", uid ?? "", "field is immutable");
  return invalid(resource, name, [error, error]);
}
