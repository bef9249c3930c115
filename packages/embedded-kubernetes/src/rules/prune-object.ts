import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isList } from "../core/json-fields.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

const objectFields = new Set(["apiVersion", "kind", "metadata"]);

/** A custom resource without the fields that its schema does not know; embedded resources keep their identity. */
export function pruneObject(object: ApiObject, schema: TypeSchema): ApiObject {
  const pruned = pruneFields(object, schema, true);
  const { metadata } = pruned;
  return isJsonObject(metadata) ? { ...pruned, metadata: withoutEmpty(metadata) } : pruned;
}

/**
 * A custom resource without the nulls that its schema neither allows nor has a default for. Go's decoder drops them, so an
 * applied configuration, which is not decoded, keeps them and is refused.
 */
export function withoutNulls(object: ApiObject, schema: TypeSchema): ApiObject {
  const { properties = {}, additionalProperties } = schema;
  const result: Record<string, Json> = {};
  for (const [field, value] of Object.entries(object)) {
    const property = properties[field] ?? additionalProperties;
    const isDropped = value === null && property?.nullable !== true && property?.default === undefined;
    if (property === undefined || !isDropped)
      result[field] = property === undefined ? value : nullsDropped(value, property);
  }
  return result;
}

function nullsDropped(value: Json, schema: TypeSchema): Json {
  if (isJsonObject(value)) return withoutNulls(value, schema);
  const { items } = schema;
  return isList(value) && items !== undefined ? value.map((item) => nullsDropped(item, items)) : value;
}

function pruneFields(object: JsonObject, schema: TypeSchema, isResource: boolean): JsonObject {
  const { properties = {}, additionalProperties, preserveUnknown } = schema;
  const result: Record<string, Json> = {};
  for (const [field, value] of Object.entries(object)) {
    const property = properties[field] ?? additionalProperties;
    if (isResource && objectFields.has(field)) result[field] = value;
    else if (property !== undefined) result[field] = pruneValue(value, property);
    else if (preserveUnknown === true) result[field] = value;
  }
  return result;
}

function pruneValue(value: Json, schema: TypeSchema): Json {
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => pruneValue(item, items));
  }
  return isJsonObject(value) ? pruneFields(value, schema, schema.embeddedResource === true) : value;
}

/** Metadata is a Go type even in a custom resource: null and empty optional fields do not come back. */
function withoutEmpty(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).flatMap(([field, value]) => keptField(field, value)));
}

function keptField(field: string, value: Json): readonly (readonly [string, Json])[] {
  if (value === null || value === "") return [];
  if (isList(value) && value.length === 0) return field === "managedFields" ? [[field, value]] : [];
  if ((field === "labels" || field === "annotations") && isJsonObject(value)) {
    const texts = Object.entries(value).map(([key, text]) => [key, text ?? ""] as const);
    return texts.length === 0 ? [] : [[field, Object.fromEntries(texts)]];
  }
  return [[field, value]];
}
