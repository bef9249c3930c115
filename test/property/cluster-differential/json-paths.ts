import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";

export type JsonPath = readonly (string | number)[];

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Every path below the value, in a fixed order whatever the order of its keys. */
export function pathsOf(value: Json, path: JsonPath = []): readonly JsonPath[] {
  const own = path.length === 0 ? [] : [path];
  if (isList(value)) return [...own, ...value.flatMap((item, index) => pathsOf(item, [...path, index]))];
  if (!isJsonObject(value)) return own;
  return [
    ...own,
    ...Object.keys(value)
      .toSorted()
      .flatMap((key) => pathsOf(value[key] ?? null, [...path, key])),
  ];
}

export function valueAt(value: Json | undefined, path: JsonPath): Json | undefined {
  return path.reduce<Json | undefined>((inner, step) => {
    if (isList(inner)) return typeof step === "number" ? inner[step] : undefined;
    return isJsonObject(inner) ? inner[step] : undefined;
  }, value);
}

/** The value with what is at the path replaced, or removed where `next` is `undefined`. */
export function withValueAt(value: Json, path: JsonPath, next: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return next ?? null;
  if (isList(value)) {
    if (rest.length === 0 && next === undefined) return value.filter((_, index) => index !== step);
    return value.map((item, index) => (index === step ? withValueAt(item, rest, next) : item));
  }
  const object: JsonObject = isJsonObject(value) ? value : {};
  if (rest.length > 0) return { ...object, [step]: withValueAt(object[step] ?? {}, rest, next) };
  const { [String(step)]: _, ...others } = object;
  return next === undefined ? others : { ...object, [step]: next };
}
