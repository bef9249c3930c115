import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { emptySet, type FieldSet, fieldSet, isEmpty, leaf } from "./field-set.ts";
import { fieldKey, itemKey } from "./path-element.ts";
import { fieldType, isAtomic, isDeclared, isList, itemType, shapeOf } from "./type-shape.ts";

/** The fields that a value sets: what an applier owns by sending it. The value has passed `checkTyped`. */
export function fieldSetOf(value: Json, schema: TypeSchema): FieldSet {
  const shape = shapeOf(schema, value);
  if (isAtomic(schema, shape)) return leaf;
  if (shape === "list") return isList(value) ? setOfList(value, schema) : emptySet;
  return isJsonObject(value) ? setOfMap(value, schema) : emptySet;
}

function setOfMap(map: JsonObject, schema: TypeSchema): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [field, value] of Object.entries(map)) {
    const set = fieldSetOf(value, fieldType(schema, field) ?? {});
    // Null and {} say something only by being there; a key of a map is a field of its own.
    const isLeaf = value === null || isEmptyMap(value) || !isDeclared(schema, field);
    const own = isLeaf && !set.isMember ? fieldSet(true, set.children) : set;
    if (!isEmpty(own)) children.set(fieldKey(field), own);
  }
  return fieldSet(false, children);
}

function setOfList(list: readonly Json[], schema: TypeSchema): FieldSet {
  const children = new Map<string, FieldSet>();
  const items = itemType(schema);
  for (const item of list) {
    const key = itemKey(schema, item);
    // Duplicates that an update put there are owned as one item without fields.
    children.set(key, children.has(key) ? leaf : fieldSet(true, fieldSetOf(item, items).children));
  }
  return fieldSet(false, children);
}

function isEmptyMap(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
