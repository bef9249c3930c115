import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { emptySet, type FieldSet, fieldSet } from "./field-set.ts";
import { fieldKey, itemKey } from "./path-element.ts";
import { fieldType, isAtomic, isDeclared, isList, itemType, shapeOf } from "./type-shape.ts";

/** The value without the members of `set`, each with all that lies below it. A map or list left empty becomes null. */
export function removeFields(value: Json, set: FieldSet, schema: TypeSchema): Json {
  if (set.children.size === 0) return value;
  const shape = shapeOf(schema, value);
  if (shape === "scalar") return value;
  if (isAtomic(schema, shape)) return null;
  if (isList(value)) return shape === "list" ? withoutItems(value, set, schema) : null;
  return isJsonObject(value) && shape === "map" ? withoutFields(value, set, schema) : null;
}

function withoutFields(map: JsonObject, set: FieldSet, schema: TypeSchema): Json {
  const entries: [string, Json][] = [];
  for (const [field, value] of Object.entries(map)) {
    const below = set.children.get(fieldKey(field));
    if (below === undefined) entries.push([field, value]);
    else if (!below.isMember) entries.push([field, removeFields(value, below, fieldType(schema, field) ?? {})]);
  }
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function withoutItems(list: readonly Json[], set: FieldSet, schema: TypeSchema): Json {
  const kept: Json[] = [];
  for (const item of list) {
    const below = set.children.get(itemKey(schema, item));
    if (below === undefined) kept.push(item);
    else if (!below.isMember) kept.push(removeFields(item, below, itemType(schema)));
  }
  return kept.length === 0 ? null : kept;
}

/** The set with every declared field that has members below it as a member: such a parent goes or stays with them. */
export function withDeclaredParents(set: FieldSet, schema: TypeSchema): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [key, child] of set.children) {
    const field = key.startsWith("f:") ? key.slice(2) : undefined;
    const type = field === undefined ? itemType(schema) : (fieldType(schema, field) ?? {});
    const below = child.children.size === 0 ? emptySet : withDeclaredParents(child, type);
    const isParent = field !== undefined && child.children.size > 0 && isDeclared(schema, field);
    children.set(key, fieldSet(child.isMember || isParent, below.children));
  }
  return fieldSet(set.isMember, children);
}
