import { equal, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { itemKey } from "./path-element.ts";
import { fieldType, isAtomic, isList, itemType, type Shape, shapeOf } from "./type-shape.ts";

/**
 * The applied value merged into the live one, as structured-merge-diff does it: maps by key, list-maps and sets by
 * item, anything else replaced. `undefined` where neither side, or nothing of them, is left. What the applied value
 * does not change is the live value itself, so that comparing the two afterwards is quick.
 */
export function mergeFields(live: Json | undefined, applied: Json | undefined, schema: TypeSchema): Json | undefined {
  if (live === undefined && applied === undefined) return undefined;
  const shape = shapeOf(schema, applied ?? live);
  if (isLeaf(live, applied, schema, shape)) return applied === undefined || equal(live, applied) ? live : applied;
  if (shape === "list") return mergeLists(isList(live) ? live : [], isList(applied) ? applied : [], schema);
  return mergeMaps(isJsonObject(live) ? live : {}, isJsonObject(applied) ? applied : {}, schema);
}

/** Where both sides are empty or null their difference is kept by taking them whole. */
function isLeaf(live: Json | undefined, applied: Json | undefined, schema: TypeSchema, shape: Shape): boolean {
  if (isAtomic(schema, shape)) return true;
  return shape === "list" ? !hasItems(live) && !hasItems(applied) : !hasFields(live) && !hasFields(applied);
}

function hasItems(value: Json | undefined): boolean {
  return isList(value) && value.length > 0;
}

function hasFields(value: Json | undefined): boolean {
  return isJsonObject(value) && Object.keys(value).length > 0;
}

function mergeMaps(live: JsonObject, applied: JsonObject, schema: TypeSchema): Json | undefined {
  const entries: [string, Json][] = [];
  const take = (field: string, applies: Json | undefined): void => {
    const own = Object.hasOwn(live, field) ? live[field] : undefined;
    const merged = mergeFields(own, applies, fieldType(schema, field) ?? {});
    if (merged !== undefined) entries.push([field, merged]);
  };
  for (const field of Object.keys(live)) take(field, Object.hasOwn(applied, field) ? applied[field] : undefined);
  for (const field of Object.keys(applied)) if (!Object.hasOwn(live, field)) take(field, applied[field]);
  if (entries.length === 0) return undefined;
  const isSame =
    entries.length === Object.keys(live).length && entries.every(([field, value]) => value === live[field]);
  return isSame ? live : Object.fromEntries(entries);
}

/**
 * Walks both lists side by side. A live-only item is taken when reached; a live item that is also applied is skipped
 * unless it is the next shared one in applied order; else the next applied item is taken, merged with its live self.
 */
function mergeLists(live: readonly Json[], applied: readonly Json[], schema: TypeSchema): Json | undefined {
  const items = itemType(schema);
  const liveKeys = live.map((item) => itemKey(schema, item));
  const appliedKeys = applied.map((item) => itemKey(schema, item));
  const liveByKey = new Map<string, Json>();
  // Duplicates in the live list are not merged with the applied item: it replaces them all.
  for (const [index, key] of liveKeys.entries()) liveByKey.set(key, liveByKey.has(key) ? null : (live[index] ?? null));
  const appliedByKey = new Set(appliedKeys);
  const shared = appliedKeys.filter((key) => liveByKey.has(key));
  const merged = new Set<string>();
  const result: Json[] = [];
  let nextShared = 0;
  const takeApplied = (index: number, key: string): void => {
    merged.add(key);
    const item = mergeFields(liveByKey.get(key), applied[index], items);
    if (item !== undefined) result.push(item);
    if (shared[nextShared] === key) nextShared += 1;
  };
  let liveIndex = 0;
  let appliedIndex = 0;
  while (liveIndex < live.length || appliedIndex < applied.length) {
    const liveKey = liveKeys[liveIndex];
    const appliedKey = appliedKeys[appliedIndex];
    if (liveKey !== undefined && !appliedByKey.has(liveKey)) {
      result.push(live[liveIndex] ?? null);
      liveIndex += 1;
    } else if (liveKey !== undefined && (merged.has(liveKey) || isSkipped(liveKey, shared[nextShared]))) {
      liveIndex += 1;
    } else if (appliedKey !== undefined) {
      if (appliedKey === liveKey) liveIndex += 1;
      takeApplied(appliedIndex, appliedKey);
      appliedIndex += 1;
    }
  }
  if (result.length === 0) return undefined;
  const isChanged = result.length !== live.length || result.some((item, index) => item !== live[index]);
  return isChanged ? result : live;
}

function isSkipped(key: string, nextShared: string | undefined): boolean {
  return nextShared !== undefined && nextShared !== key;
}
