import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { isList } from "../../core/json-fields.ts";
import type { TypeSchema } from "../../schema/type-schema.ts";

/** Optional strings whose empty default Go writes out all the same. */
const writtenEmpty = new Set(["reportingComponent", "reportingInstance", "service"]);

/**
 * Fills in `default` throughout. Built-in schemas also carry the zero values that Go always writes (`resources: {}`).
 * In a custom resource null counts as missing where the schema has a default and does not allow null.
 */
export function schemaDefaults(object: JsonObject, schema: TypeSchema, isBuiltin: boolean): JsonObject {
  const value = defaulted(object, schema, isBuiltin);
  return isJsonObject(value) ? value : object;
}

function defaulted(value: Json, schema: TypeSchema, isBuiltin: boolean): Json {
  if (!isBuiltin && !fillsIn(schema)) return value;
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => defaulted(filled(item, items), items, isBuiltin));
  }
  if (!isJsonObject(value) || (schema.properties === undefined && schema.additionalProperties === undefined)) {
    return value;
  }
  const { properties = {}, additionalProperties, required = [] } = schema;
  const result: Record<string, Json> = {};
  for (const [field, item] of Object.entries(value)) {
    const property = properties[field] ?? additionalProperties;
    const isMissing = item === null && property?.default !== undefined && property.nullable !== true;
    if (property === undefined) result[field] = item;
    else if (!isMissing) result[field] = defaulted(filled(item, property), property, isBuiltin);
  }
  for (const [field, property] of Object.entries(properties)) {
    const fill = property.default;
    if (result[field] !== undefined || fill === undefined) continue;
    if (isBuiltin && isOmittedZero(field, fill, required)) continue;
    result[field] = defaulted(fill, property, isBuiltin);
  }
  return result;
}

const known = new WeakMap<TypeSchema, boolean>();

/**
 * Whether anything below the schema of a custom resource has a default: most of a large one has none, and need not be
 * walked for every object. (Built-in schemas hold themselves, and are resolved no further than they are read.)
 */
function fillsIn(schema: TypeSchema): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const { properties = {}, additionalProperties, items } = schema;
  const parts = [...Object.values(properties), additionalProperties, items].filter((part) => part !== undefined);
  const does = parts.some((part) => part.default !== undefined || fillsIn(part));
  known.set(schema, does);
  return does;
}

/** A null list item or map value gets its default. */
function filled(item: Json, schema: TypeSchema): Json {
  return item === null && schema.default !== undefined && schema.nullable !== true ? schema.default : item;
}

function isOmittedZero(field: string, fill: Json, required: readonly string[]): boolean {
  if (required.includes(field)) return false;
  return (fill === "" && !writtenEmpty.has(field)) || (fill === 0 && field === "minReadySeconds");
}
