import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { arrangePages, entriesOfPages } from "../../apply/page-text.ts";
import type { Fence } from "../../core/ports/fence.ts";
import type { InventoryEntry, InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { keyOf, type RowKey } from "./attributes.ts";
import { batchGet } from "./batch-get.ts";
import { fencedWrites } from "./fenced-writes.ts";
import { newGeneration } from "./inventory-generation.ts";
import { collectPages, type PagesOf, readPages, writePages } from "./inventory-page-rows.ts";
import {
  type InventoryPointer,
  inlineContent,
  ownerName,
  pointerAttributes,
  pointerOf,
  pointerSortKey,
} from "./inventory-pointer.ts";
import { missingPages } from "./missing-pages.ts";
import { newPageCache } from "./page-cache.ts";
import type { KnownInventory, Recollection } from "./recollection.ts";
import { objectPartition } from "./row-keys.ts";
import type { StateTable } from "./state-table.ts";

/** A page that is missing was collected since its pointer was read; a pointer that moved is an earlier write of ours that came late. */
const maxTries = 4;

/**
 * Inventories: a pointer that is swapped under the fence, and pages that are written before it under names of their own, so
 * that whoever reads finds the old or the new and a writer that dies between leaves what the next one removes.
 */
export function dynamodbInventoryStore(table: StateTable, recollection: Recollection): InventoryStore {
  const pages = newPageCache();
  const place = (owner: string, { key }: Fence): PagesOf => ({ partition: objectPartition(key), owner });

  const readPointer = async (owner: string, fence: Fence, signal: AbortSignal): Promise<KnownInventory> => {
    const [row] = await batchGet(table, [pointerKey(owner, fence)], signal);
    return row === undefined ? "none" : { pointer: pointerOf(row) };
  };

  /** The inventory with its texts. */
  const read = async (owner: string, fence: Fence, signal: AbortSignal): Promise<Read> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const known = recollection.inventoryOf(owner, fence) ?? (await readPointer(owner, fence, signal));
      if (known === "none") return { texts: undefined };
      const texts = known.texts ?? (await readPages(table, pages, place(owner, fence), known.pointer, signal));
      if (texts !== undefined) {
        recollection.sawInventory(owner, fence, { pointer: known.pointer, texts });
        return { pointer: known.pointer, texts };
      }
      recollection.sawInventory(owner, fence, undefined);
    }
    throw missingPages(table.name, fence.key, pointerKey(owner, fence));
  };

  /** Puts the pointer in the place of the one that was read; false where that is another by now. */
  const swap = async (
    owner: string,
    before: InventoryPointer | undefined,
    after: InventoryPointer | undefined,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const write = pointerWrite(table, pointerKey(owner, fence), before, after);
    const mark = { attribute: "inventory", value: after?.generation ?? "removed" };
    // Whatever becomes of this, what was known is no longer sure.
    recollection.sawInventory(owner, fence, undefined);
    return (await fencedWrites(table, fence, [write], signal, mark)).length === 0;
  };

  const trySave = async (
    { generation: savedUnder, ...of }: InventoryOwner,
    entries: readonly InventoryEntry[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const owner = ownerName(of);
    const { pointer: before, texts: textsBefore = [] } = await read(owner, fence, signal);
    const texts = arrangePages(entries, textsBefore);
    if (before !== undefined && before.savedUnder === savedUnder && isSame(texts, textsBefore)) return true;
    const generation = newGeneration(fence);
    const content = inlineContent(texts) ?? {
      kind: "pages",
      generations: await writePages(
        table,
        pages,
        place(owner, fence),
        generation,
        { texts, textsBefore, before },
        signal,
      ),
    };
    const after: InventoryPointer = { generation, savedUnder, content };
    if (!(await swap(owner, before, after, fence, signal))) return false;
    recollection.sawInventory(owner, fence, { pointer: after, texts });
    await collectPages(table, place(owner, fence), { before, after }, fence, signal);
    return true;
  };

  const tryRemove = async (owner: string, fence: Fence, signal: AbortSignal): Promise<boolean> => {
    const known = await readPointer(owner, fence, signal);
    if (known === "none") return true;
    if (!(await swap(owner, known.pointer, undefined, fence, signal))) return false;
    await collectPages(table, place(owner, fence), { before: known.pointer, after: undefined }, fence, signal);
    return true;
  };

  const insist = async (attempt: () => Promise<boolean>, { key }: Fence): Promise<void> => {
    for (let tries = 0; tries < maxTries; tries++) {
      if (await attempt()) return;
    }
    throw new Error(`the inventory of ${formatWorkKey(key)} is changed by somebody without its lease`);
  };

  return {
    async load(owner, fence, signal) {
      const { texts } = await read(ownerName(owner), fence, signal);
      return texts === undefined ? undefined : entriesOfPages(texts);
    },
    async savedUnder(owner, fence, signal) {
      const { pointer } = await read(ownerName(owner), fence, signal);
      return pointer?.savedUnder;
    },
    save: (owner, entries, fence, signal) => insist(() => trySave(owner, entries, fence, signal), fence),
    remove: (owner, fence, signal) => insist(() => tryRemove(ownerName(owner), fence, signal), fence),
  };
}

interface Read {
  readonly pointer?: InventoryPointer;
  /** Undefined where nothing was saved. */
  readonly texts: readonly string[] | undefined;
}

function pointerKey(owner: string, { key }: Fence): RowKey {
  return { pk: objectPartition(key), sk: pointerSortKey(owner) };
}

function isSame(texts: readonly string[], before: readonly string[]): boolean {
  return texts.length === before.length && texts.every((text, page) => text === before[page]);
}

function pointerWrite(
  { name: TableName }: StateTable,
  row: RowKey,
  before: InventoryPointer | undefined,
  after: InventoryPointer | undefined,
): TransactWriteItem {
  const key = keyOf(row);
  const condition =
    before === undefined
      ? { ConditionExpression: "attribute_not_exists(pk)" }
      : {
          ConditionExpression: "generation = :before",
          ExpressionAttributeValues: { ":before": { S: before.generation } },
        };
  if (after === undefined) return { Delete: { TableName, Key: key, ...condition } };
  return { Put: { TableName, Item: { ...key, ...pointerAttributes(after) }, ...condition } };
}
