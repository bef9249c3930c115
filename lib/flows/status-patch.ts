import { equal } from "../core/equal.ts";
import { isJsonObject, type Json, type JsonObject, toJson } from "../core/json.ts";

/** The merge patch (RFC 7386) from one status to another, or undefined where they say the same. */
export function statusPatch(before: object, after: object): JsonObject | undefined {
  return equal(before, after) ? undefined : patchOf(toJson(before), toJson(after));
}

/** Maps are merged field by field, so what is gone from one is named with `null`; lists are replaced whole. */
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
