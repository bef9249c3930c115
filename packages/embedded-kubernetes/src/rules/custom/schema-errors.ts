import type { ApiObject, FieldError } from "../../core/api-object.ts";
import {
  duplicate,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "../../core/field-errors.ts";
import { matchesPattern } from "../../core/go-pattern.ts";
import { goValue } from "../../core/go-value.ts";
import { canonicalJson, isInteger, isJsonObject, isNumber, type Json, type JsonObject } from "../../core/json.ts";
import { isList, textOf } from "../../core/json-fields.ts";
import type { TypeSchema } from "../../schema/type-schema.ts";

type Errors = readonly FieldError[];

const isRoot = "";

/** What a custom resource's schema refuses, in the words of the server's OpenAPI validator, then its list types. */
export function schemaErrors(object: ApiObject, schema: TypeSchema): Errors {
  const fields = { ...schema, properties: withoutIdentity(schema) };
  return [...valueErrors(object, fields, isRoot), ...listErrors(object, fields, isRoot)];
}

/** Version, kind and metadata are checked as Go types, not by the definition. */
function withoutIdentity(schema: TypeSchema): Readonly<Record<string, TypeSchema>> {
  const { properties = {} } = schema;
  const names = Object.keys(properties).filter((name) => !["apiVersion", "kind", "metadata"].includes(name));
  return Object.fromEntries(
    names.flatMap((name) => (properties[name] === undefined ? [] : [[name, properties[name]]])),
  );
}

function valueErrors(value: Json, schema: TypeSchema, path: string): Errors {
  if (value === null && schema.nullable === true) return [];
  const types = typeErrors(value, schema, path);
  if (types.length > 0) return types;
  return [
    ...enumErrors(value, schema, path),
    ...(typeof value === "string" ? textErrors(value, schema, path) : []),
    ...(isNumber(value) ? numberErrors(value, schema, path) : []),
    ...(isList(value) ? itemErrors(value, schema, path) : []),
    ...(isJsonObject(value) ? objectErrors(value, schema, path) : []),
    ...combinationErrors(value, schema, path),
  ];
}

function typeErrors(value: Json, schema: TypeSchema, path: string): Errors {
  if (schema.intOrString === true) {
    const isEither = typeof value === "string" || isInteger(value);
    return isEither ? [] : [wrongType(value, "integer,string", path)];
  }
  if (schema.type === undefined || isOfType(value, schema.type)) return [];
  return [wrongType(value, schema.type, path)];
}

function wrongType(value: Json, wanted: string, path: string): FieldError {
  const actual = typeName(value);
  return typeInvalid(path, actual, `${inBody(path)} must be of type ${wanted}: ${JSON.stringify(actual)}`);
}

function isOfType(value: Json, type: NonNullable<TypeSchema["type"]>): boolean {
  const actual = typeName(value);
  return actual === type || (type === "number" && actual === "integer");
}

function typeName(value: Json): string {
  if (value === null) return "null";
  if (isList(value)) return "array";
  if (isNumber(value)) return isInteger(value) ? "integer" : "number";
  return typeof value;
}

function inBody(path: string): string {
  return path === isRoot ? "in body" : `${path} in body`;
}

function enumErrors(value: Json, { enum: allowed }: TypeSchema, path: string): Errors {
  if (allowed === undefined || allowed.some((item) => canonicalJson(item) === canonicalJson(value))) return [];
  return [
    notSupported(
      path,
      value,
      allowed.map((item) => (typeof item === "string" ? item : goValue(item))),
    ),
  ];
}

function textErrors(value: string, schema: TypeSchema, path: string): Errors {
  const length = Array.from(value).length;
  const { maxLength, minLength, pattern, format } = schema;
  const shape = (): Errors => {
    if (maxLength !== undefined && length > maxLength) return [tooLong(path, maxLength)];
    if (minLength !== undefined && length < minLength) {
      return [invalidValue(path, value, `${inBody(path)} should be at least ${minLength} chars long`)];
    }
    if (pattern === undefined || matchesPattern(pattern, value)) return [];
    return [invalidValue(path, value, `${inBody(path)} should match '${pattern}'`)];
  };
  return [
    // Length and pattern are one check, which ends with its first finding.
    ...shape(),
    ...(format !== undefined && !isOfFormat(value, format)
      ? [typeInvalid(path, value, `${inBody(path)} must be of type ${format}: ${JSON.stringify(value)}`)]
      : []),
  ];
}

const formats: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  ipv4: /^\d{1,3}(\.\d{1,3}){3}$/,
  duration: /^\s*[-+]?(\d+(\.\d+)?\s*[a-zµ]+\s*)+$/i,
};

function isOfFormat(value: string, format: string): boolean {
  return formats[format]?.test(value) ?? true;
}

function numberErrors(value: number | bigint, schema: TypeSchema, path: string): Errors {
  const { minimum, maximum, multipleOf } = schema;
  const [exclusiveMin, exclusiveMax] = [schema.exclusiveMinimum === true, schema.exclusiveMaximum === true];
  const isBelow = minimum !== undefined && (exclusiveMin ? value <= minimum : value < minimum);
  const isAbove = maximum !== undefined && (exclusiveMax ? value >= maximum : value > maximum);
  return [
    ...(isAbove
      ? [
          invalidValue(
            path,
            value,
            `${inBody(path)} should be less than ${exclusiveMax ? "" : "or equal to "}${maximum}`,
          ),
        ]
      : []),
    ...(isBelow
      ? [
          invalidValue(
            path,
            value,
            `${inBody(path)} should be greater than ${exclusiveMin ? "" : "or equal to "}${minimum}`,
          ),
        ]
      : []),
    ...(multipleOf !== undefined && Number(value) % multipleOf !== 0
      ? [invalidValue(path, value, `${inBody(path)} should be a multiple of ${multipleOf}`)]
      : []),
  ];
}

function itemErrors(list: readonly Json[], schema: TypeSchema, path: string): Errors {
  const { items, maxItems, minItems, uniqueItems } = schema;
  return [
    ...(items === undefined ? [] : list.flatMap((item, index) => valueErrors(item, items, `${path}[${index}]`))),
    ...(minItems !== undefined && list.length < minItems
      ? [invalidValue(path, list.length, `${inBody(path)} should have at least ${minItems} items`)]
      : []),
    ...(maxItems !== undefined && list.length > maxItems ? [tooMany(path, list.length, maxItems)] : []),
    ...(uniqueItems === true && new Set(list.map((item) => canonicalJson(item))).size < list.length
      ? [duplicate(path, list)]
      : []),
  ];
}

function objectErrors(object: JsonObject, schema: TypeSchema, path: string): Errors {
  const { properties = {}, additionalProperties, minProperties, maxProperties } = schema;
  const count = Object.keys(object).length;
  const fields = Object.keys(object)
    .toSorted()
    .flatMap((field) => {
      const property = properties[field] ?? additionalProperties;
      const value = object[field];
      return property === undefined || value === undefined ? [] : valueErrors(value, property, join(path, field));
    });
  return [
    ...(maxProperties !== undefined && count > maxProperties ? [tooMany(path, count, maxProperties)] : []),
    ...(minProperties !== undefined && count < minProperties
      ? [invalidValue(path, count, `${inBody(path)} should have at least ${minProperties} properties`)]
      : []),
    ...fields,
    ...requiredErrors(object, schema, path),
    ...(schema.embeddedResource === true ? embeddedErrors(object, path) : []),
  ];
}

function requiredErrors(object: JsonObject, { required: names = [] }: TypeSchema, path: string): Errors {
  return names.filter((name) => object[name] === undefined).map((name) => required(join(path, name)));
}

/** An object inside an object says what it is. */
function embeddedErrors(object: JsonObject, path: string): Errors {
  return ["apiVersion", "kind"].flatMap((field) => (textOf(object, field) === "" ? [required(join(path, field))] : []));
}

function combinationErrors(value: Json, schema: TypeSchema, path: string): Errors {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const passes = (option: TypeSchema): boolean => valueErrors(value, option, path).length === 0;
  const matching = oneOf.filter(passes).length;
  return [
    ...(anyOf.length > 0 && !anyOf.some(passes)
      ? [invalidValue(path, value, `${quotedPath(path)} must validate at least one schema (anyOf)`)]
      : []),
    ...(oneOf.length > 0 && matching !== 1
      ? [
          invalidValue(
            path,
            value,
            `${quotedPath(path)} must validate one and only one schema (oneOf). Found ${matching === 0 ? "none" : String(matching)} valid`,
          ),
        ]
      : []),
    ...(allOf.length > 0 && !allOf.every(passes)
      ? [
          ...allOf.flatMap((option) => valueErrors(value, option, path)),
          invalidValue(path, value, `${quotedPath(path)} must validate all the schemas (allOf)`),
        ]
      : []),
    ...(not !== undefined && passes(not)
      ? [invalidValue(path, value, `${quotedPath(path)} must not validate the schema (not)`)]
      : []),
  ];
}

function quotedPath(path: string): string {
  return JSON.stringify(path);
}

/** Lists of type set and map hold each item once; of a map each item has its keys. */
function listErrors(value: Json, schema: TypeSchema, path: string): Errors {
  if (isList(value)) {
    const { items } = schema;
    return [
      ...uniqueErrors(value, schema, path),
      ...(items === undefined ? [] : value.flatMap((item, index) => listErrors(item, items, `${path}[${index}]`))),
    ];
  }
  if (!isJsonObject(value)) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.keys(value)
    .toSorted()
    .flatMap((field) => {
      const property = properties[field] ?? additionalProperties;
      const item = value[field];
      // Most fields are scalars: not even a path is made for them.
      return property === undefined || typeof item !== "object" ? [] : listErrors(item, property, join(path, field));
    });
}

function uniqueErrors(list: readonly Json[], { listType, mapKeys = [] }: TypeSchema, path: string): Errors {
  if (listType !== "set" && listType !== "map") return [];
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const key = listType === "set" ? item : keyOf(item, mapKeys);
    const text = canonicalJson(key);
    const isTaken = seen.has(text);
    seen.add(text);
    return isTaken ? [duplicate(`${path}[${index}]`, key)] : [];
  });
}

function keyOf(item: Json, mapKeys: readonly string[]): Json {
  const object = isJsonObject(item) ? item : {};
  return Object.fromEntries(mapKeys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]])));
}

function join(path: string, field: string): string {
  return path === isRoot ? field : `${path}.${field}`;
}
