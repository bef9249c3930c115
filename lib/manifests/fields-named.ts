import type { Json, JsonObject } from "../core/json.ts";

/** Every value whose field has this name in any case, as Go's JSON decoder matches fields. */
export function fieldsNamed(object: JsonObject, name: string): Json[] {
  const wanted = name.toLowerCase();
  return Object.entries(object)
    .filter(([key]) => key.toLowerCase() === wanted)
    .map(([, value]) => value);
}

/** Every string in such a field, whether it holds one or a list of them. */
export function textsNamed(object: JsonObject, name: string): string[] {
  return fieldsNamed(object, name)
    .flatMap(asList)
    .filter((value) => typeof value === "string");
}

export function asList(value: Json): readonly Json[] {
  return isList(value) ? value : [value];
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
