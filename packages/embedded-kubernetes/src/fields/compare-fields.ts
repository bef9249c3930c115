import { equal, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { emptySet, type FieldSet, fieldSet, isEmpty, leaf } from "./field-set.ts";
import { fieldKey, itemKey } from "./path-element.ts";
import { fieldType, isAtomic, isList, itemType, shapeOf } from "./type-shape.ts";

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const same: Comparison = { added: emptySet, modified: emptySet, removed: emptySet };
const modifiedLeaf: Comparison = { ...same, modified: leaf };
const addedLeaf: Comparison = { ...same, added: leaf };
const removedLeaf: Comparison = { ...same, removed: leaf };

export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed);
}

/** Which fields of `after` are new or different, and which of `before` are gone. */
export function compareFields(before: Json | undefined, after: Json | undefined, schema: TypeSchema): Comparison {
  // Stored objects share what did not change.
  if (before === after) return same;
  const shape = shapeOf(schema, after ?? before);
  if (isAtomic(schema, shape)) return compareLeaf(before, after);
  if (shape === "list") {
    const [old, fresh] = [listOf(before), listOf(after)];
    if (old.length === 0 && fresh.length === 0) return compareLeaf(before, after);
    return withSelf(compareLists(old, fresh, schema), before, after);
  }
  const [old, fresh] = [mapOf(before), mapOf(after)];
  if (Object.keys(old).length === 0 && Object.keys(fresh).length === 0) return compareLeaf(before, after);
  return withSelf(compareMaps(old, fresh, schema), before, after);
}

function compareLeaf(before: Json | undefined, after: Json | undefined): Comparison {
  if (before === undefined) return addedLeaf;
  if (after === undefined) return removedLeaf;
  return equal(before, after) ? same : modifiedLeaf;
}

/** A map, list or item that came into being or went is added or removed itself, beside what is in it. */
function withSelf(below: Comparison, before: Json | undefined, after: Json | undefined): Comparison {
  if (before === undefined) return { ...below, added: fieldSet(true, below.added.children) };
  if (after === undefined) return { ...below, removed: fieldSet(true, below.removed.children) };
  return below;
}

function compareMaps(before: JsonObject, after: JsonObject, schema: TypeSchema): Comparison {
  const parts: [string, Comparison][] = [];
  for (const [field, value] of Object.entries(before)) {
    const other = Object.hasOwn(after, field) ? after[field] : undefined;
    parts.push([fieldKey(field), compareFields(value, other, fieldType(schema, field) ?? {})]);
  }
  for (const [field, value] of Object.entries(after)) {
    if (Object.hasOwn(before, field)) continue;
    parts.push([fieldKey(field), compareFields(undefined, value, fieldType(schema, field) ?? {})]);
  }
  return combined(parts);
}

function compareLists(before: readonly Json[], after: readonly Json[], schema: TypeSchema): Comparison {
  const [old, fresh] = [itemsByKey(before, schema), itemsByKey(after, schema)];
  const items = itemType(schema);
  const parts: [string, Comparison][] = [];
  for (const key of new Set([...old.keys(), ...fresh.keys()])) {
    parts.push([key, compareItems(old.get(key) ?? [], fresh.get(key) ?? [], items)]);
  }
  return combined(parts);
}

/** Duplicates are compared as one thing; where they came or went only the remaining single item counts. */
function compareItems(before: readonly Json[], after: readonly Json[], items: TypeSchema): Comparison {
  if (before.length > 1 && after.length > 1) return equal(before, after) ? same : modifiedLeaf;
  if (before.length > 1) return compareDuplicates(after[0], items, "before");
  if (after.length > 1) return compareDuplicates(before[0], items, "after");
  return compareFields(before[0], after[0], items);
}

function compareDuplicates(single: Json | undefined, items: TypeSchema, side: "before" | "after"): Comparison {
  if (single === undefined) return side === "before" ? removedLeaf : addedLeaf;
  const below = side === "before" ? compareFields(undefined, single, items) : compareFields(single, undefined, items);
  const { added, removed } = below;
  return { added: fieldSet(false, added.children), modified: leaf, removed: fieldSet(false, removed.children) };
}

function itemsByKey(list: readonly Json[], schema: TypeSchema): ReadonlyMap<string, readonly Json[]> {
  const byKey = new Map<string, Json[]>();
  for (const item of list) {
    const key = itemKey(schema, item);
    const items = byKey.get(key);
    if (items === undefined) byKey.set(key, [item]);
    else items.push(item);
  }
  return byKey;
}

function combined(parts: readonly (readonly [string, Comparison])[]): Comparison {
  const changed = parts.filter(([, part]) => part !== same);
  if (changed.length === 0) return same;
  const setOf = (word: keyof Comparison): FieldSet =>
    fieldSet(false, new Map(changed.flatMap(([key, part]) => (isEmpty(part[word]) ? [] : [[key, part[word]]]))));
  const result = { added: setOf("added"), modified: setOf("modified"), removed: setOf("removed") };
  return isSame(result) ? same : result;
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

function mapOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
