import type { ApiObject, Gvk } from "../core/api-object.ts";
import { ConversionError } from "../core/conversion-error.ts";
import { isInteger, isJsonObject, isNumber, type Json, type JsonObject } from "../core/json.ts";
import { isList } from "../core/json-fields.ts";
import { canonicalQuantity } from "../core/quantity.ts";
import { builtinSchema } from "../schema/builtin-schema.ts";
import { goStruct } from "../schema/go-types.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { canonicalBase64, canonicalTime } from "./canonical-scalar.ts";
import { pruneObject } from "./prune-object.ts";

/**
 * The object as it comes back from Go's types: unknown fields dropped, quantities canonical, empty optional values
 * left out, obligatory lists null where they are missing. A custom resource is only pruned. Idempotent.
 *
 * @throws {ConversionError} for a value that only the Go type refuses (quantity, base64)
 */
export function canonicalObject(object: ApiObject, gvk: Gvk, schema: TypeSchema): ApiObject {
  if (builtinSchema(gvk) === undefined) return pruneObject(object, schema);
  return canonicalStruct(object, schema, "");
}

function canonicalStruct(object: JsonObject, schema: TypeSchema, parent: string): JsonObject {
  const { properties = {}, goType } = schema;
  const struct = goStruct(goType);
  const result: Record<string, Json> = {};
  for (const [field, value] of Object.entries(object)) {
    const property = properties[field];
    if (property === undefined) {
      if ((field === "apiVersion" || field === "kind") && parent === "") result[field] = value;
      continue;
    }
    if (field === "managedFields") {
      // As the request has it: an empty list is what clears the managers.
      result[field] = value;
      continue;
    }
    const canonical = canonicalValue(value, property, field);
    if (canonical === undefined) continue;
    if (!isEmpty(canonical, property)) result[field] = canonical;
    // The store keeps no empty list: one that is written all the same comes back as null.
    else if (struct?.fields.get(field)?.isWrittenWhenEmpty === true)
      result[field] = isList(canonical) ? null : canonical;
  }
  for (const field of struct?.nullWhenUnset ?? []) if (result[field] === undefined) result[field] = null;
  for (const field of struct?.emptyWhenUnset ?? []) if (result[field] === undefined) result[field] = "";
  return result;
}

function canonicalValue(value: Json, schema: TypeSchema, field: string): Json | undefined {
  if (value === null) return undefined;
  if (schema.quantity === true) return isScalar(value) ? canonicalQuantity(value) : value;
  if (typeof value === "string" && schema.format === "byte") return canonicalBase64(value);
  if (typeof value === "string" && schema.format === "date-time") return canonicalTime(value, field);
  if (schema.type === "integer" && isNumber(value) && !isInteger(value)) {
    throw new ConversionError(`cannot convert float64 to ${schema.format ?? "int64"}`);
  }
  if (isList(value)) return schema.items === undefined ? value : canonicalList(value, schema.items, field);
  if (!isJsonObject(value)) return value;
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
    return canonicalStruct(value, schema, field);
  }
  return schema.additionalProperties === undefined ? value : canonicalMap(value, schema.additionalProperties, field);
}

function canonicalList(list: readonly Json[], items: TypeSchema, field: string): Json {
  return list.map((item) => canonicalValue(item, items, field) ?? zeroOf(items));
}

function canonicalMap(map: JsonObject, values: TypeSchema, field: string): JsonObject {
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [key, canonicalValue(value, values, field) ?? zeroOf(values)]),
  );
}

/** What null becomes where Go has a plain value: in a map or a list. */
function zeroOf(schema: TypeSchema): Json {
  if (schema.quantity === true) return "0";
  if (schema.type === "string") return "";
  if (schema.type === "integer" || schema.type === "number") return 0;
  if (schema.type === "boolean") return false;
  return schema.type === "object" && schema.properties !== undefined ? {} : null;
}

/** Whether Go's encoder takes the value for empty; a struct never is. */
function isEmpty(value: Json, schema: TypeSchema): boolean {
  if (value === "") return schema.quantity !== true;
  if (value === 0 || value === false) return schema.intOrString !== true;
  if (isList(value)) return value.length === 0;
  const isMap = schema.properties === undefined && schema.additionalProperties !== undefined;
  return isMap && isJsonObject(value) && Object.keys(value).length === 0;
}

function isScalar(value: Json): value is string | number | bigint {
  return typeof value === "string" || isNumber(value);
}
