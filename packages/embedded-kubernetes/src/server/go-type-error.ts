import { isInteger, isJsonObject, isNumber, type Json, type JsonObject } from "../core/json.ts";
import { type GoField, goStruct, goTypeName } from "../schema/go-types.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/** Where the decoder is: the struct that holds the value, and the fields on the way, without indexes and keys. */
interface Place {
  readonly struct: string;
  readonly path: string;
  /** The Go type of the value. */
  readonly type: string;
}

/**
 * What Go's decoder says of the first value that has not its field's type, or `undefined`: `json: cannot unmarshal
 * string into Go struct field DeploymentSpec.spec.replicas of type int32`. Unknown fields and null are no error to it.
 */
export function goTypeError(value: Json, schema: TypeSchema, kind: string): string | undefined {
  return errorIn(value, schema, { struct: kind, path: "", type: typeText(schema) });
}

/** Of a part of an object, whose own place is `path`, as of the metadata of a custom resource. */
export function goTypeErrorAt(value: Json, schema: TypeSchema, struct: string, path: string): string | undefined {
  return errorIn(value, schema, { struct, path, type: typeText(schema) });
}

function errorIn(value: Json, schema: TypeSchema, place: Place): string | undefined {
  if (value === null || schema.preserveUnknown === true) return undefined;
  if (schema.intOrString === true) return intOrStringError(value, place);
  if (schema.quantity === true) {
    return typeof value === "string" || isNumber(value) ? undefined : mismatch(value, place, "string");
  }
  if (schema.type === "array") {
    if (!isList(value)) return mismatch(value, place, place.type);
    const { items } = schema;
    const inner = { ...place, type: place.type.replace(/^\[\]/, "") };
    return items === undefined ? undefined : first(value, (item) => errorIn(item, items, inner));
  }
  if (schema.type === "object" || schema.properties !== undefined || schema.additionalProperties !== undefined) {
    return isJsonObject(value) ? fieldError(value, schema, place) : mismatch(value, place, place.type);
  }
  return scalarError(value, schema, place);
}

/** Text or a whole number of 32 bits; what is no text is read as a number. */
function intOrStringError(value: Json, place: Place): string | undefined {
  const isInt32 = typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 31;
  return typeof value === "string" || isInt32 ? undefined : mismatch(value, place, "int32");
}

/** What reads text of a format, where that is not the field's own type. */
const textTypes: Readonly<Record<string, string>> = { byte: "[]uint8", "date-time": "string" };

function scalarError(value: Json, schema: TypeSchema, place: Place): string | undefined {
  const { format } = schema;
  switch (schema.type) {
    case "string":
      return typeof value === "string" ? undefined : mismatch(value, place, textTypes[format ?? ""] ?? place.type);
    case "boolean":
      return typeof value === "boolean" ? undefined : mismatch(value, place, "bool");
    case "integer": {
      const isWhole = isInteger(value);
      const isInRange = format !== "int32" || (isWhole && value >= -(2 ** 31) && value < 2 ** 31);
      return isWhole && isInRange ? undefined : mismatch(value, place, place.type);
    }
    case "number":
      return isNumber(value) ? undefined : mismatch(value, place, "float64");
    case "object":
    case "array":
    case undefined:
      break;
  }
  return undefined;
}

function fieldError(object: JsonObject, schema: TypeSchema, place: Place): string | undefined {
  const { properties, additionalProperties, goType } = schema;
  const fields = goStruct(goType)?.fields;
  const struct = goType === undefined ? place.struct : goType.slice(goType.lastIndexOf(".") + 1);
  return first(Object.entries(object), ([field, item]) => {
    const type = properties !== undefined && Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (type !== undefined) {
      const path = place.path === "" ? field : `${place.path}.${field}`;
      return errorIn(item, type, { struct, path, type: fieldType(fields?.get(field), type) });
    }
    if (additionalProperties === undefined) return undefined;
    // The keys of a map are not part of the path.
    return errorIn(item, additionalProperties, { ...place, type: place.type.replace(/^map\[[^\]]*\]/, "") });
  });
}

function fieldType(field: GoField | undefined, schema: TypeSchema): string {
  return field?.type ?? typeText(schema);
}

/** A type's Go name as far as its schema tells it. */
function typeText(schema: TypeSchema): string {
  const { goType, type, format, items, additionalProperties } = schema;
  if (goType !== undefined) return goTypeName(goType);
  switch (type) {
    case "array":
      return `[]${items === undefined ? "interface {}" : typeText(items)}`;
    case "string":
    case "boolean":
      return type === "boolean" ? "bool" : type;
    case "integer":
      return format ?? "int64";
    case "number":
      return "float64";
    case "object":
    case undefined:
      break;
  }
  return additionalProperties === undefined
    ? "map[string]interface {}"
    : `map[string]${typeText(additionalProperties)}`;
}

function first<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const error = check(item);
    if (error !== undefined) return error;
  }
  return undefined;
}

function mismatch(value: Json, { struct, path }: Place, type: string): string {
  const into = path === "" ? `Go value of type ${type}` : `Go struct field ${struct}.${path} of type ${type}`;
  return `json: cannot unmarshal ${nameOf(value, type)} into ${into}`;
}

/** A number is said itself only where a number of another size or kind is wanted. */
function nameOf(value: Json, type: string): string {
  if (isList(value)) return "array";
  if (isNumber(value)) return /^u?int\d*$/.test(type) ? `number ${value}` : "number";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
