import { isJsonObject, isNumber, type Json, type JsonObject } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { goSyntax, goText, goType } from "./go-print.ts";
import { elementText, itemKey, PathElementError } from "./path-element.ts";
import { fieldType, isAtomic, isList, itemType, shapeOf } from "./type-shape.ts";

/**
 * What keeps a value from being of its type, in the words of structured-merge-diff: unknown fields, wrong types,
 * duplicate items. `undefined` if nothing does; several errors are one text of several lines.
 */
export function typeError(value: Json, schema: TypeSchema): string | undefined {
  const errors = errorsOf(value, schema, "");
  return errors.length <= 1 ? errors[0] : ["errors:", ...errors.map((error) => `  ${error}`)].join("\n");
}

function errorsOf(value: Json, schema: TypeSchema, path: string): readonly string[] {
  const at = (text: string): readonly string[] => [path === "" ? text : `${path}: ${text}`];
  if (value === null) return [];
  switch (shapeOf(schema, value)) {
    case "scalar": {
      const error = scalarError(value, schema);
      return error === undefined ? [] : at(error);
    }
    case "list":
      return isList(value) ? listErrors(value, schema, path) : at(`expected list, got &{${goText(value)}}`);
    case "map":
      return isJsonObject(value) ? mapErrors(value, schema, path) : at(`expected map, got &{${goText(value)}}`);
  }
}

function scalarError(value: Json, schema: TypeSchema): string | undefined {
  const { type } = schema;
  if (type === undefined) return typeof value === "object" ? `expected any scalar, got &{${goText(value)}}` : undefined;
  switch (type) {
    case "integer":
    case "number":
      return isNumber(value) ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goText(value)}}`;
    case "object":
    case "array":
      return undefined;
  }
}

function mapErrors(map: JsonObject, schema: TypeSchema, path: string): readonly string[] {
  const isUntyped = isAtomic(schema, "map") && schema.type === undefined;
  if (isUntyped) return [];
  const errors: string[] = [];
  for (const [field, value] of Object.entries(map)) {
    const type = fieldType(schema, field);
    if (type === undefined) return [...errors, `${path}.${field}: field not declared in schema`];
    errors.push(...errorsOf(value, type, `${path}.${field}`));
  }
  return errors;
}

function listErrors(list: readonly Json[], schema: TypeSchema, path: string): readonly string[] {
  const items = itemType(schema);
  if (isAtomic(schema, "list")) return list.flatMap((item, index) => errorsOf(item, items, `${path}[${index}]`));
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const key = keyOrError(schema, item);
    if (key instanceof PathElementError) return [...errors, `${path}: element ${index}: ${key.message}`];
    if (seen.has(key)) errors.push(`${path}: duplicate entries for key ${elementText(key)}`);
    seen.add(key);
    errors.push(...errorsOf(item, items, `${path}${elementText(key)}`));
  }
  return errors;
}

function keyOrError(schema: TypeSchema, item: Json): string | PathElementError {
  try {
    return itemKey(schema, item);
  } catch (error) {
    if (error instanceof PathElementError) return error;
    throw error;
  }
}
