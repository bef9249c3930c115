import { equal, isJsonObject, type Json, type JsonObject } from "./json.ts";

/**
 * The merge patch (RFC 7396) that makes the second object of the first one, or undefined where they are equal. Fields are merged one by one,
 * so a removed one is sent as `null`; lists are replaced whole. A field that is null counts as absent: a merge patch cannot set one, and
 * Kubernetes keeps none. Pure.
 */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...keys].flatMap((key): readonly (readonly [string, Json])[] => {
    const [was, is] = [ownField(before, key), ownField(after, key)];
    if (!isJsonObject(was) || !isJsonObject(is)) return equal(was, is) ? [] : [[key, is]];
    const inner = mergePatch(was, is);
    return inner === undefined ? [] : [[key, inner]];
  });
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Every object inherits a key such as `__proto__`, which the data of a ConfigMap may have too. */
function ownField(object: JsonObject, key: string): Json {
  return Object.hasOwn(object, key) ? (object[key] ?? null) : null;
}
