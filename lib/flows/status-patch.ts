import { type JsonObject, toJsonObject } from "../core/json.ts";
import { mergePatch } from "../core/merge-patch.ts";

/** The merge patch from one status to another, or undefined if they are equal. */
export function statusPatch(before: object, after: object): JsonObject | undefined {
  return mergePatch(toJsonObject(before), toJsonObject(after));
}
