import { equal, isJsonObject, type JsonObject } from "./json.ts";

/** The merge patch (RFC 7386) from one object to another. Fields are merged one by one, so a removed one is sent as `null`; lists are replaced whole. */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !equal(before[key], after[key]),
  );
  return Object.fromEntries(
    changed.map((key) => {
      const [was = null, is = null] = [before[key], after[key]];
      return [key, isJsonObject(was) && isJsonObject(is) ? mergePatch(was, is) : is];
    }),
  );
}
