import { equal, isJsonObject, type Json, type JsonObject, toJson } from "../core/json.ts";

/** The merge patch (RFC 7386) from one status to another, or undefined if they are equal. */
export function statusPatch(before: object, after: object): JsonObject | undefined {
  return equal(before, after) ? undefined : patchOf(toJson(before), toJson(after));
}

/** Mappings are merged field by field, so a removed field is sent as `null`; lists are replaced whole. */
function patchOf(before: Json, after: Json): JsonObject {
  if (!isJsonObject(before) || !isJsonObject(after)) throw new TypeError("a status is an object");
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !equal(before[key], after[key]),
  );
  return Object.fromEntries(
    changed.map((key) => {
      const [was = null, is = null] = [before[key], after[key]];
      return [key, isJsonObject(was) && isJsonObject(is) ? patchOf(was, is) : is];
    }),
  );
}
