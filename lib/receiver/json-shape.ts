import { isJsonObject } from "../core/json.ts";

/** The types that fields of a JSON text must have, if they are present. */
export type JsonShape = "text" | "texts" | { readonly [field: string]: JsonShape };

/**
 * The path of the first value that Go's `encoding/json` would not read into a struct of this shape; undefined without one. As there,
 * null and what is missing are empty, the case of a field's name does not matter, and other fields do not either.
 */
export function misshapen(value: unknown, shape: JsonShape, path = "top level"): string | undefined {
  if (value === null) return undefined;
  if (shape === "text") return typeof value === "string" ? undefined : path;
  if (shape === "texts") {
    return Array.isArray(value) && value.every((one) => misshapen(one, "text") === undefined) ? undefined : path;
  }
  if (!isJsonObject(value)) return path;
  const fields = new Map(Object.entries(shape).map(([name, inner]) => [name.toLowerCase(), { name, inner }]));
  for (const [key, held] of Object.entries(value)) {
    const field = fields.get(key.toLowerCase());
    const found = field === undefined ? undefined : misshapen(held, field.inner, field.name);
    if (found !== undefined) return found;
  }
  return undefined;
}
