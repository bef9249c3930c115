import { isJsonObject, type JsonObject } from "../core/json.ts";

/** A value of an object that is not checked yet: empty unless it is an object itself. */
export function mapping(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The same for a text. */
export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
