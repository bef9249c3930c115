import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { arrangePages, entriesOfPages } from "../../apply/inventory-pages.ts";
import type { Fence } from "../../core/ports/fence.ts";
import type { InventoryEntry, InventoryOwner, InventoryStore } from "../../core/ports/inventory-store.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import { collectPages, newGeneration, newPageCache, type PagesOf, readPages, writePages } from "./inventory-pages.ts";
import {
  clusterOfOwner,
  type InventoryPointer,
  inlineContent,
  ownerName,
  ownerOfPointer,
  pointerAttributes,
  pointerOf,
  pointerPrefix,
  pointerSortKey,
} from "./inventory-pointer.ts";
import { batchGet, queryRows } from "./read-rows.ts";
import type { KnownInventory, RowCache } from "./row-cache.ts";
import { keyOf, objectPartition, type RowKey } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { fencedWrites } from "./write-rows.ts";

/** A missing page was removed after its pointer was read; a changed pointer is an earlier write of ours that came late. */
const maxTries = 4;

/**
 * Inventories: pages are written first under new names, then the pointer is swapped under the lease's token. A reader therefore finds the
 * old or the new inventory, and if a writer dies in between, the next one removes its pages.
 */
export function dynamodbInventoryStore(table: StateTable, rowCache: RowCache): InventoryStore {
  const pages = newPageCache();
  const place = (owner: string, { key }: Fence): PagesOf => ({ partition: objectPartition(key), owner });

  const readPointer = async (owner: string, fence: Fence, signal: AbortSignal): Promise<KnownInventory> => {
    const [row] = await batchGet(table, [pointerKey(owner, fence)], signal);
    return row === undefined ? "none" : { pointer: pointerOf(row) };
  };

  /** The inventory with its texts. */
  const read = async (owner: string, fence: Fence, signal: AbortSignal): Promise<Read> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const known = rowCache.inventoryOf(owner, fence) ?? (await readPointer(owner, fence, signal));
      if (known === "none") return { texts: undefined };
      const texts = known.texts ?? (await readPages(table, pages, place(owner, fence), known.pointer, signal));
      if (texts !== undefined) {
        rowCache.setInventory(owner, fence, { pointer: known.pointer, texts });
        return { pointer: known.pointer, texts };
      }
      rowCache.setInventory(owner, fence, undefined);
    }
    throw missingPages(table.name, fence.key, pointerKey(owner, fence));
  };

  /** Replaces the pointer that was read; false if it has changed since. */
  const swap = async (
    owner: string,
    before: InventoryPointer | undefined,
    after: InventoryPointer | undefined,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const write = pointerWrite(table, pointerKey(owner, fence), before, after);
    const mark = { attribute: "inventory", value: after?.generation ?? "removed" };
    // The write may or may not succeed, so the cached inventory is no longer certain.
    rowCache.setInventory(owner, fence, undefined);
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
    rowCache.setInventory(owner, fence, { pointer: after, texts });
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
    throw new Error(`the inventory of ${formatWorkKey(key)} is changed by a writer without its lease`);
  };

  const readOwners = async ({ key }: Fence, signal: AbortSignal): Promise<readonly string[]> => {
    const query = {
      ConsistentRead: true,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :inventory)",
      ExpressionAttributeValues: { ":pk": { S: objectPartition(key) }, ":inventory": { S: pointerPrefix } },
      ProjectionExpression: "sk",
    };
    return (await queryRows(table, query, signal)).flatMap((row) => ownerOfPointer(row) ?? []);
  };

  return {
    async clusters({ uid }, fence, signal) {
      const owners = rowCache.inventoryOwners(fence) ?? (await readOwners(fence, signal));
      return owners.flatMap((owner) => clusterOfOwner(owner, uid) ?? []);
    },
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
  /** Undefined if nothing was saved. */
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

/**
 * A part of an inventory is lost. To continue as if it were empty, or from the status alone, would leave objects in the cluster that no
 * inventory contains: the operator has to decide that.
 *
 * @param pointer the key of its pointer, without which there is no inventory
 */
function missingPages(table: string, key: WorkKey, pointer: RowKey): Error {
  return new Error(
    `pages of the inventory of ${formatWorkKey(key)} are missing from table ${table}; restore the table to a time before that, or, if that is not possible, delete its item ${JSON.stringify(keyOf(pointer))}: the next run then starts from status.inventory, and objects that are not in it stay in the cluster`,
  );
}
