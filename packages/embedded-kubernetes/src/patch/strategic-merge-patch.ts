import { type ApiObject, StatusError } from "../core/api-object.ts";
import { equal, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { goText, goType } from "../fields/go-print.ts";
import { fieldType, isList } from "../fields/type-shape.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { checkOrder, identityOf, orderedItems } from "./element-order.ts";
import {
  deletePrefix,
  missingMergeKey,
  orderPrefix,
  patchDirective,
  patchError,
  plainValue,
  retainKeysDirective,
  unknownDirective,
} from "./patch-directives.ts";

/**
 * Kubernetes' own merge patch for built-in kinds: lists with a merge key merge by it, directives in the patch delete,
 * replace and order.
 *
 * @throws {StatusError} 400 for a patch that is not an object, 500 for one that makes no sense
 */
export function strategicMergePatch(document: ApiObject, patch: Json, schema: TypeSchema): ApiObject {
  if (isJsonObject(patch)) return mergeMaps(document, patch, schema);
  if (patch === null) return document;
  const type = isList(patch) ? "array" : typeof patch;
  const text = `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  throw new StatusError(400, "BadRequest", text);
}

function mergeMaps(original: JsonObject, patch: JsonObject, schema: TypeSchema): JsonObject {
  const { [patchDirective]: directive, ...content } = patch;
  if (directive === "replace") return content;
  if (directive === "delete") return {};
  if (directive !== undefined) throw unknownDirective(directive, patch);
  const { [retainKeysDirective]: retained, ...fields } = content;
  const result = new Map(
    Object.entries(retained === undefined ? original : retainedFields(original, fields, retained)),
  );
  const merged = new Set<string>();
  for (const [key, order] of Object.entries(fields)) {
    if (!key.startsWith(orderPrefix)) continue;
    const field = key.slice(orderPrefix.length);
    merged.add(key).add(field);
    const list = orderedList(result.get(field), fields[field], order, fieldType(schema, field) ?? {});
    if (list !== undefined) result.set(field, list);
  }
  for (const [key, value] of Object.entries(fields)) {
    if (merged.has(key)) continue;
    if (key.startsWith(deletePrefix)) deleteItems(result, key.slice(deletePrefix.length), value);
    else if (value === null) result.delete(key);
    else {
      const next = mergeValue(result.get(key), value, fieldType(schema, key) ?? {});
      if (next === undefined) result.delete(key);
      else result.set(key, next);
    }
  }
  return Object.fromEntries(result);
}

/** `undefined` where the patch is nothing but a directive, with nothing to direct. */
function mergeValue(original: Json | undefined, patch: Json, schema: TypeSchema): Json | undefined {
  if (isJsonObject(original) && isJsonObject(patch)) {
    return strategiesOf(schema).includes("replace") ? patch : mergeMaps(original, patch, schema);
  }
  if (isList(original) && isList(patch)) {
    return strategiesOf(schema).includes("merge") ? mergeLists(original, patch, schema) : patch;
  }
  return plainValue(patch);
}

function strategiesOf({ patchStrategy = "" }: TypeSchema): readonly string[] {
  return patchStrategy.split(",");
}

/** `$retainKeys`: what it does not list goes; the patch may set only what it lists. */
function retainedFields(original: JsonObject, patch: JsonObject, retained: Json): JsonObject {
  const isFormat = isList(retained) && retained.every((key) => typeof key === "string");
  const keys = new Set(isFormat ? retained : []);
  const isListed = Object.entries(patch).every(
    ([field, value]) =>
      value === null || field.startsWith(deletePrefix) || field.startsWith(orderPrefix) || keys.has(field),
  );
  if (!isFormat || !isListed) throw patchError("invalid patch format of retainKeys");
  return Object.fromEntries(Object.entries(original).filter(([field]) => keys.has(field)));
}

function orderedList(
  original: Json | undefined,
  patch: Json | undefined,
  order: Json,
  schema: TypeSchema,
): Json | undefined {
  if (!isList(order)) throw patchError("invalid patch format of setElementOrder list");
  const mergeKey = mergeKeyOf(schema, [order, original, patch]);
  if (isList(patch)) checkOrder(patch, order, mergeKey);
  const merged = patch === undefined ? original : mergeValue(original, patch, schema);
  if (!isList(merged)) return merged;
  return orderedItems(merged, order, isList(original) ? original : [], mergeKey);
}

function deleteItems(result: Map<string, Json>, field: string, items: Json): void {
  const list = result.get(field);
  if (!isList(list)) return;
  if (!isList(items)) throw patchError("invalid patch format of primitive list");
  result.set(
    field,
    list.filter((value) => !items.some((item) => equal(item, value))),
  );
}

/** Lists of maps merge by their key; lists of plain values have none. */
function mergeKeyOf(schema: TypeSchema, lists: readonly (Json | undefined)[]): string | undefined {
  const hasMaps = lists.some((list) => isList(list) && list.some((item) => isJsonObject(item)));
  return hasMaps ? schema.patchMergeKey : undefined;
}

function mergeLists(original: readonly Json[], patch: readonly Json[], schema: TypeSchema): Json {
  if (original.length === 0 && patch.length === 0) return original;
  checkItems(original, patch);
  if (![...original, ...patch].some((item) => isJsonObject(item))) return mergePrimitives(original, patch);
  const { patchMergeKey: mergeKey, items = {} } = schema;
  if (mergeKey === undefined) throw patchError("cannot merge lists without merge key");
  const { kept, content, isReplaced } = withoutDirectives(original, patch, mergeKey);
  if (isReplaced) return content;
  const merged = [...kept];
  for (const item of content) {
    const identity = identityOf(item, mergeKey);
    const index = merged.findIndex((other) => equal(identityOf(other, mergeKey), identity));
    const known = merged[index];
    if (!isJsonObject(item)) throw patchError("expected a map as list item");
    if (isJsonObject(known)) merged[index] = mergeMaps(known, item, items);
    else merged.push(plainValue(item) ?? {});
  }
  return orderedItems(merged, content, kept, mergeKey);
}

/** Items of lists that merge are all of one type, which is not a list. */
function checkItems(original: readonly Json[], patch: readonly Json[]): void {
  const [first, ...others] = [...original, ...patch].map(goType);
  if (first === "[]interface {}") throw patchError("lists of lists are not supported");
  if (others.some((type) => type !== first)) {
    throw patchError(`list element types are not identical: ${goText([original, patch])}`);
  }
}

function mergePrimitives(original: readonly Json[], patch: readonly Json[]): readonly Json[] {
  const both = [...original, ...patch];
  const unique = both.filter((item, index) => both.findIndex((other) => equal(other, item)) === index);
  return orderedItems(unique, patch, original, undefined);
}

interface Directed {
  /** The stored items less the deleted ones. */
  readonly kept: readonly Json[];
  /** The patch's items that are no directives. */
  readonly content: readonly Json[];
  readonly isReplaced: boolean;
}

function withoutDirectives(original: readonly Json[], patch: readonly Json[], mergeKey: string): Directed {
  const content: Json[] = [];
  const deleted: Json[] = [];
  let isReplaced = false;
  for (const item of patch) {
    const directive = isJsonObject(item) ? item[patchDirective] : undefined;
    if (!isJsonObject(item) || directive === undefined) content.push(item);
    else if (directive === "replace") isReplaced = true;
    else if (directive === "merge") throw patchError("merging lists cannot yet be specified in the patch");
    else if (directive !== "delete") throw unknownDirective(directive, item);
    else if (item[mergeKey] === undefined) throw missingMergeKey(item, mergeKey);
    else deleted.push(item[mergeKey]);
  }
  const kept = original.filter((item) => !deleted.some((key) => isJsonObject(item) && equal(item[mergeKey], key)));
  return { kept, content, isReplaced };
}
