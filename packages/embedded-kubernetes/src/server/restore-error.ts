import { isInteger, isJsonObject, isNumber, type Json } from "../core/json.ts";
import { goKind } from "../fields/go-print.ts";
import { isList, shapeOf } from "../fields/type-shape.ts";
import { goStruct } from "../schema/go-types.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/**
 * What Go's converter from unstructured objects, through which strategic merge patches go, says of the first value
 * that has not its field's type; `undefined` if there is none.
 */
export function restoreError(value: Json, schema: TypeSchema, type = "string"): string | undefined {
  if (value === null) return undefined;
  switch (shapeOf(schema, value)) {
    case "map":
      return mapError(value, schema);
    case "list": {
      if (!isList(value)) return `cannot restore slice from ${goKind(value)}`;
      const { items } = schema;
      return items === undefined
        ? undefined
        : first(value, (item) => restoreError(item, items, type.replace(/^\[\]/, "")));
    }
    case "scalar":
      return scalarError(value, schema, type);
  }
}

/** How that converter says what only the Go type refuses: bytes are read as JSON. */
export function restoredText(problem: string): string {
  return problem.startsWith("illegal base64") ? `error decoding from json: ${problem}` : problem;
}

function mapError(value: Json, { properties, additionalProperties, goType }: TypeSchema): string | undefined {
  if (!isJsonObject(value)) {
    return properties === undefined
      ? `cannot restore map from ${goKind(value)}`
      : `cannot restore struct from: ${goKind(value)}`;
  }
  const fields = goStruct(goType)?.fields;
  const inOrder =
    fields === undefined ? Object.keys(value) : [...fields.keys()].filter((field) => Object.hasOwn(value, field));
  return first(inOrder, (field) => {
    const type =
      properties !== undefined && Object.hasOwn(properties, field) ? properties[field] : additionalProperties;
    return type === undefined ? undefined : restoreError(value[field] ?? null, type, fields?.get(field)?.type);
  });
}

/** Go converts numbers to text of any type, in principle, so that is refused in other words than the rest. */
function scalarError(value: Json, schema: TypeSchema, goType: string): string | undefined {
  const { type, format, intOrString, quantity } = schema;
  if (intOrString === true || quantity === true) return undefined;
  if (format === "date-time") {
    return typeof value === "string"
      ? undefined
      : `json: cannot unmarshal ${jsonKind(value)} into Go value of type string`;
  }
  if (format === "byte") return typeof value === "string" ? undefined : `cannot restore slice from ${goKind(value)}`;
  switch (type) {
    case "string": {
      if (typeof value === "string") return undefined;
      return isInteger(value) ? `cannot convert int64 to ${goType}` : "unrecognized type: string";
    }
    case "boolean":
      return typeof value === "boolean" ? undefined : "unrecognized type: bool";
    case "integer": {
      if (isInteger(value)) return undefined;
      const wanted = format ?? "int64";
      return typeof value === "number" ? `cannot convert float64 to ${wanted}` : `unrecognized type: ${wanted}`;
    }
    case "number":
      return isNumber(value) ? undefined : "unrecognized type: float64";
    case "object":
    case "array":
    case undefined:
      break;
  }
  return undefined;
}

function jsonKind(value: Json): string {
  if (isList(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function first<Item>(items: readonly Item[], errorOf: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const error = errorOf(item);
    if (error !== undefined) return error;
  }
  return undefined;
}
