import { StatusError } from "../core/api-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
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

/** A patch's value where the object has none yet: without directives, the maps that hold one, and nulls. */
export function plainValue(value: Json): Json | undefined {
  if (isList(value)) return value.map(plainValue).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (value[patchDirective] !== undefined) return undefined;
  const entries = Object.entries(value).flatMap(([field, item]): [string, Json][] => {
    const kept = item === null || isDirective(field) ? undefined : plainValue(item);
    return kept === undefined ? [] : [[field, kept]];
  });
  return Object.fromEntries(entries);
}

function isDirective(field: string): boolean {
  return (
    field === patchDirective ||
    field === retainKeysDirective ||
    field.startsWith(deletePrefix) ||
    field.startsWith(orderPrefix)
  );
}
