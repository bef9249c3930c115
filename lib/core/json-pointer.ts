import { isJsonList, isJsonObject, type Json } from "./json.ts";

/** The parts of a JSON pointer (RFC 6901), without its escapes. */
export type JsonPointer = readonly string[];

/** Undefined for invalid text: a pointer begins with `/`. The empty pointer, to the whole document, has no parts. */
export function parsePointer(text: string): JsonPointer | undefined {
  if (text === "") return [];
  if (!text.startsWith("/")) return undefined;
  return text
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Undefined where there is nothing. A negative index counts from the end of a list, as Flux's patches have it. */
export function valueAt(value: Json | undefined, pointer: JsonPointer): Json | undefined {
  const [part, ...rest] = pointer;
  if (part === undefined || value === undefined) return value;
  return valueAt(childOf(value, part), rest);
}

/** The value without what the pointer names. The containers of that stay, also if they are empty then. */
export function withoutPointer(value: Json, pointer: JsonPointer): Json {
  const [part, ...rest] = pointer;
  const child = part === undefined ? undefined : childOf(value, part);
  if (part === undefined || child === undefined) return value;
  if (rest.length > 0) return withChild(value, part, withoutPointer(child, rest));
  if (isJsonList(value)) return value.toSpliced(indexIn(value, part) ?? value.length, 1);
  if (!isJsonObject(value)) return value;
  const { [part]: _gone, ...others } = value;
  return others;
}

/** The value with another one at the pointer. Mappings on the way are made; an item of a list is only replaced. */
export function withValueAt(value: Json, pointer: JsonPointer, next: Json): Json {
  const [part, ...rest] = pointer;
  if (part === undefined) return next;
  const child = childOf(value, part);
  if (child === undefined && !isJsonObject(value)) return value;
  return withChild(value, part, withValueAt(child ?? {}, rest, next));
}

function childOf(value: Json, part: string): Json | undefined {
  if (isJsonList(value)) return value[indexIn(value, part) ?? value.length];
  return isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}

function withChild(value: Json, part: string, child: Json): Json {
  if (isJsonList(value)) return value.with(indexIn(value, part) ?? 0, child);
  return isJsonObject(value) ? { ...value, [part]: child } : value;
}

function indexIn(list: readonly Json[], part: string): number | undefined {
  if (!/^-?\d{1,9}$/.test(part)) return undefined;
  const index = Number(part) < 0 ? list.length + Number(part) : Number(part);
  return index >= 0 && index < list.length ? index : undefined;
}
