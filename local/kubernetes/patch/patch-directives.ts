import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import { StatusError } from "../api-object.ts";
import { goText } from "../fields/go-print.ts";
import { isList } from "../fields/type-shape.ts";

export const patchDirective = "$patch";
export const retainKeysDirective = "$retainKeys";
export const deletePrefix = "$deleteFromPrimitiveList/";
export const orderPrefix = "$setElementOrder/";

/** A strategic patch that makes no sense is a failure of the server: 500, no reason, the Go library's text. */
export function patchError(text: string): StatusError {
  return new StatusError(500, undefined, text);
}

export function unknownDirective(directive: Json, holder: JsonObject): StatusError {
  return patchError(`unknown patch type: ${goText(directive)} in map: ${goText(holder)}`);
}

export function missingMergeKey(item: Json, mergeKey: string): StatusError {
  return patchError(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

/** A patch's value where the object has none yet: without directives, deletions and nulls. */
export function plainValue(value: Json): Json {
  if (isList(value)) return value.filter((item) => !isDirectiveItem(item)).map(plainValue);
  if (!isJsonObject(value)) return value;
  if (value[patchDirective] === "delete") return {};
  const kept = Object.entries(value).filter(([field, item]) => item !== null && !isDirective(field));
  return Object.fromEntries(kept.map(([field, item]) => [field, plainValue(item)]));
}

function isDirectiveItem(item: Json): boolean {
  return isJsonObject(item) && item[patchDirective] !== undefined && item[patchDirective] !== "merge";
}

function isDirective(field: string): boolean {
  return (
    field === patchDirective ||
    field === retainKeysDirective ||
    field.startsWith(deletePrefix) ||
    field.startsWith(orderPrefix)
  );
}
