import { equal, isJsonObject, type Json } from "../core/json.ts";
import { goText } from "../fields/go-print.ts";
import { missingMergeKey, patchDirective, patchError } from "./patch-directives.ts";

/** What tells an item of a list from others: its merge key's value, or for a primitive the value itself. */
export function identityOf(item: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) return item;
  const value = isJsonObject(item) ? item[mergeKey] : undefined;
  if (value === undefined) throw missingMergeKey(item, mergeKey);
  return value;
}

function indexOf(list: readonly Json[], item: Json, mergeKey: string | undefined): number {
  const identity = identityOf(item, mergeKey);
  return list.findIndex((other) => equal(identityOf(other, mergeKey), identity));
}

/**
 * A merged list in order: the items of `wanted` in that order, the others in the order of the stored list, each of
 * them before the next wanted item only where the stored list had it so.
 */
export function orderedItems(
  merged: readonly Json[],
  wanted: readonly Json[],
  stored: readonly Json[],
  mergeKey: string | undefined,
): readonly Json[] {
  const isWanted = (item: Json): boolean => indexOf(wanted, item, mergeKey) >= 0;
  const first = sortedBy(merged.filter(isWanted), wanted, mergeKey);
  const others = sortedBy(
    merged.filter((item) => !isWanted(item)),
    stored,
    mergeKey,
  );
  const result: Json[] = [];
  let next = 0;
  for (const other of others) {
    const place = indexOf(stored, other, mergeKey);
    while (next < first.length && !isBefore(place, indexOf(stored, first[next] ?? null, mergeKey))) {
      result.push(first[next] ?? null);
      next += 1;
    }
    result.push(other);
  }
  return [...result, ...first.slice(next)];
}

function isBefore(place: number, other: number): boolean {
  return place >= 0 && other >= 0 && place < other;
}

function sortedBy(items: readonly Json[], order: readonly Json[], mergeKey: string | undefined): readonly Json[] {
  return items.toSorted((a, b) => indexOf(order, a, mergeKey) - indexOf(order, b, mergeKey));
}

/** Refuses a patch whose items, less those it deletes, are not in `$setElementOrder` in the same order. */
export function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (patch.length === 0 || order.length === 0) return;
  const kept = patch.filter((item) => !isJsonObject(item) || item[patchDirective] === undefined);
  let next = 0;
  for (const item of order) {
    const expected = kept[next];
    if (expected === undefined) return;
    if (equal(identityOf(item, mergeKey), identityOf(expected, mergeKey))) next += 1;
  }
  if (next < kept.length) {
    throw patchError(
      `The order in patch list:\n${goText(patch)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
    );
  }
}
