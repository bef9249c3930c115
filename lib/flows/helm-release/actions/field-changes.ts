import { equal, isJsonList, isJsonObject, type Json } from "../../../core/json.ts";

/** A field that differs; undefined where it is not there. */
export interface FieldChange {
  /** A JSON pointer. */
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/**
 * The fields in which two values differ, for users: as deep as both have them, and lists item by item, while `jsonDiff` finds the
 * shortest patch. Pure.
 */
export function fieldChanges(before: Json | undefined, after: Json | undefined, path = ""): readonly FieldChange[] {
  if (before !== undefined && after !== undefined && equal(before, after)) return [];
  const below = (keys: readonly string[], at: (value: Json | undefined, key: string) => Json | undefined) =>
    keys.flatMap((key) => fieldChanges(at(before, key), at(after, key), `${path}/${escaped(key)}`));
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
    return below(keys, (value, key) => (isJsonObject(value) ? value[key] : undefined));
  }
  if (before !== undefined && after !== undefined && isJsonList(before) && isJsonList(after)) {
    const places = Array.from({ length: Math.max(before.length, after.length) }, (_, place) => String(place));
    return below(places, (value, place) =>
      value !== undefined && isJsonList(value) ? value[Number(place)] : undefined,
    );
  }
  return [{ path, before, after }];
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
