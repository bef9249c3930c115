import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isList } from "../fields/type-shape.ts";
import { goStruct } from "../schema/go-types.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

/**
 * A patched object in the order in which Go prints it: what the patch went through has become a map, with its keys in
 * order; the rest is still as Go's structs are written. A custom resource has no structs.
 *
 * @param isTouched of a JSON pointer without escapes, whether the patch went through what is there
 */
export function printedObject(
  object: ApiObject,
  schema: TypeSchema,
  isTouched: (pointer: string) => boolean,
): ApiObject {
  return printedFields(object, schema, "", isTouched);
}

/** The pointers that a JSON or merge patch goes through. */
export function touchedBy(patch: Json): (pointer: string) => boolean {
  const touched = new Set([""]);
  if (isList(patch)) {
    const pointers = patch.flatMap((operation) =>
      isJsonObject(operation) ? [operation["path"], operation["from"]].filter((path) => typeof path === "string") : [],
    );
    for (const pointer of pointers) {
      const steps = pointer.split("/").slice(1, -1).map(unescaped);
      for (const [index] of steps.entries()) touched.add(`/${steps.slice(0, index + 1).join("/")}`);
    }
  } else addMaps(patch, "", touched);
  return (pointer) => touched.has(pointer);
}

function addMaps(patch: Json, pointer: string, touched: Set<string>): void {
  if (!isJsonObject(patch)) return;
  touched.add(pointer);
  for (const [field, value] of Object.entries(patch)) addMaps(value, `${pointer}/${field}`, touched);
}

function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function printedFields(
  object: JsonObject,
  schema: TypeSchema,
  pointer: string,
  isTouched: (pointer: string) => boolean,
): JsonObject {
  const { properties, additionalProperties, goType } = schema;
  const fields = isTouched(pointer) ? undefined : goStruct(goType)?.fields;
  const keys = Object.keys(object);
  const sorted = fields === undefined ? keys.sort() : inOrder(keys, [...fields.keys()]);
  return Object.fromEntries(
    sorted.map((key) => {
      const type = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
      return [key, printedValue(object[key] ?? null, type ?? {}, `${pointer}/${key}`, isTouched)];
    }),
  );
}

function inOrder(keys: readonly string[], order: readonly string[]): readonly string[] {
  const place = new Map(order.map((field, index) => [field, index]));
  return keys.toSorted((a, b) => (place.get(a) ?? order.length) - (place.get(b) ?? order.length));
}

function printedValue(value: Json, schema: TypeSchema, pointer: string, isTouched: (pointer: string) => boolean): Json {
  const { items = {} } = schema;
  if (isList(value)) return value.map((item, index) => printedValue(item, items, `${pointer}/${index}`, isTouched));
  return isJsonObject(value) ? printedFields(value, schema, pointer, isTouched) : value;
}
