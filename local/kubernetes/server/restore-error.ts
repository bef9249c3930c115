import { isJsonObject, type Json } from "../../../lib/core/json.ts";
import { goKind } from "../fields/go-print.ts";
import { isList, shapeOf } from "../fields/type-shape.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/**
 * What Go's converter from unstructured objects, through which strategic merge patches go, says of the first value
 * that has not its field's type; `undefined` if there is none.
 */
export function restoreError(value: Json, schema: TypeSchema): string | undefined {
  if (value === null) return undefined;
  switch (shapeOf(schema, value)) {
    case "map":
      return mapError(value, schema);
    case "list": {
      if (!isList(value)) return `cannot restore slice from ${goKind(value)}`;
      const { items } = schema;
      return items === undefined ? undefined : first(value, (item) => restoreError(item, items));
    }
    case "scalar":
      return scalarError(value, schema);
  }
}

/** How that converter says what only the Go type refuses: bytes are read as JSON. */
export function restoredText(problem: string): string {
  return problem.startsWith("illegal base64") ? `error decoding from json: ${problem}` : problem;
}

function mapError(value: Json, { properties, additionalProperties }: TypeSchema): string | undefined {
  if (!isJsonObject(value)) {
    return properties === undefined
      ? `cannot restore map from ${goKind(value)}`
      : `cannot restore struct from: ${goKind(value)}`;
  }
  return first(Object.entries(value), ([field, item]) => {
    const type =
      properties !== undefined && Object.hasOwn(properties, field) ? properties[field] : additionalProperties;
    return type === undefined ? undefined : restoreError(item, type);
  });
}

function scalarError(value: Json, { type, format, intOrString, quantity }: TypeSchema): string | undefined {
  if (intOrString === true || quantity === true || format === "byte" || format === "date-time") return undefined;
  const cannot = (wanted: string): string => `cannot convert ${goKind(value)} to ${wanted}`;
  if (type === "string" && typeof value !== "string") return cannot("string");
  if (type === "boolean" && typeof value !== "boolean") return cannot("bool");
  if (type === "integer" && typeof value !== "number") return cannot(format ?? "int64");
  return type === "number" && typeof value !== "number" ? cannot("float64") : undefined;
}

function first<Item>(items: readonly Item[], errorOf: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const error = errorOf(item);
    if (error !== undefined) return error;
  }
  return undefined;
}
