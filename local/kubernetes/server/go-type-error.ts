import { isJsonObject, type Json } from "../../../lib/core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/**
 * What Go's decoder says of the first value that has not its field's type, or `undefined`: `json: cannot unmarshal
 * string into Go struct field Deployment.spec.replicas of type int32`. Unknown fields and null are no error to it.
 */
export function goTypeError(value: Json, schema: TypeSchema, kind: string): string | undefined {
  return errorIn(value, schema, kind);
}

function errorIn(value: Json, schema: TypeSchema, path: string): string | undefined {
  if (value === null || schema.preserveUnknown === true) return undefined;
  if (schema.intOrString === true || schema.quantity === true) {
    return typeof value === "string" || typeof value === "number" ? undefined : mismatch(value, path, "string");
  }
  if (schema.type === "array") {
    if (!isList(value)) return mismatch(value, path, "[]interface {}");
    const { items } = schema;
    return items === undefined ? undefined : first(value, (item) => errorIn(item, items, path));
  }
  if (schema.type === "object" || schema.properties !== undefined || schema.additionalProperties !== undefined) {
    return objectError(value, schema, path);
  }
  return scalarError(value, schema, path);
}

function scalarError(value: Json, schema: TypeSchema, path: string): string | undefined {
  switch (schema.type) {
    case "string":
      return typeof value === "string" ? undefined : mismatch(value, path, "string");
    case "boolean":
      return typeof value === "boolean" ? undefined : mismatch(value, path, "bool");
    case "integer":
      return Number.isInteger(value) ? undefined : mismatch(value, path, schema.format ?? "int64");
    case "number":
      return typeof value === "number" ? undefined : mismatch(value, path, "float64");
    case "object":
    case "array":
    case undefined:
      break;
  }
  return undefined;
}

function objectError(value: Json, schema: TypeSchema, path: string): string | undefined {
  const { properties, additionalProperties } = schema;
  if (!isJsonObject(value)) {
    const type = properties === undefined ? `map[string]${additionalProperties?.type ?? "interface {}"}` : "struct";
    return mismatch(value, path, type);
  }
  return first(Object.entries(value), ([field, item]) => {
    const isDeclared = properties !== undefined && Object.hasOwn(properties, field);
    const type = isDeclared ? properties[field] : additionalProperties;
    return type === undefined ? undefined : errorIn(item, type, `${path}.${field}`);
  });
}

function first<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const error = check(item);
    if (error !== undefined) return error;
  }
  return undefined;
}

function mismatch(value: Json, path: string, type: string): string {
  const into = path.includes(".") ? `Go struct field ${path} of type ${type}` : `Go value of type ${type}`;
  return `json: cannot unmarshal ${nameOf(value)} into ${into}`;
}

function nameOf(value: Json): string {
  if (isList(value)) return "array";
  if (typeof value === "number" && !Number.isInteger(value)) return `number ${value}`;
  return typeof value === "boolean" ? "bool" : typeof value;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
