/** The parts of a message's body. A `Map` is written with sorted keys; the fields of an object keep their order. */
export type GoValue =
  | null
  | boolean
  | number
  | string
  | readonly GoValue[]
  | ReadonlyMap<string, GoValue>
  | { readonly [field: string]: GoValue | undefined };

/**
 * JSON as Go's `json.Marshal` writes it, byte for byte, since receivers verify signatures of it: `<`, `>`, `&` and separators of lines are escaped,
 * the keys of a map are sorted by their bytes, and half a surrogate pair is U+FFFD. Fields that are undefined are left out. Pure.
 */
export function goJson(value: GoValue): string {
  // Once for the whole text: these characters stand in strings only.
  const json = written(value);
  if (!escaped.test(json)) return json;
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const escaped = /[<>&\u2028\u2029]/;
/** ASCII that is the same in JSON, as most texts are. */
const isWrittenAsIs = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return isWrittenAsIs.test(text) ? `"${text}"` : JSON.stringify(text.toWellFormed());
}

function written(value: GoValue): string {
  if (value === null || typeof value === "boolean" || typeof value === "number") return JSON.stringify(value);
  if (typeof value === "string") return quoted(value);
  if (isList(value)) return `[${value.map(written).join(",")}]`;
  let fields = "";
  const add = (key: string, field: GoValue | undefined): void => {
    if (field === undefined) return;
    fields += `${fields === "" ? "" : ","}${quoted(key)}:${written(field)}`;
  };
  if (isMap(value)) for (const key of sortedByBytes([...value.keys()])) add(key, value.get(key));
  else for (const key of Object.keys(value)) add(key, value[key]);
  return `{${fields}}`;
}

/** Sorted by the bytes of their UTF-8, as in Go. The order of UTF-16 is the same unless a key has surrogates. */
function sortedByBytes(keys: readonly string[]): readonly string[] {
  if (!keys.some((key) => /[\ud800-\udfff]/.test(key))) return keys.toSorted();
  return keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function isList(value: object): value is readonly GoValue[] {
  return Array.isArray(value);
}

function isMap(value: object): value is ReadonlyMap<string, GoValue> {
  return value instanceof Map;
}
