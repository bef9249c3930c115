import { equal, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/**
 * The JSON merge patch (RFC 7396) that makes one object of the other, or undefined where they are equal. What is null counts as absent:
 * a merge patch cannot say it, and Kubernetes does not keep it. Pure.
 */
export function mergePatch(live: JsonObject, wanted: JsonObject): JsonObject | undefined {
  const changes: Record<string, Json> = {};
  for (const key of new Set([...Object.keys(live), ...Object.keys(wanted)])) {
    const [before, after] = [live[key] ?? null, wanted[key] ?? null];
    if (isJsonObject(before) && isJsonObject(after)) {
      const inner = mergePatch(before, after);
      if (inner !== undefined) changes[key] = inner;
    } else if (!equal(before, after)) {
      changes[key] = after;
    }
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}
