import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { Fence } from "../../core/ports/fence.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import { digestOfPages, packTags, unpackTags } from "../../core/tag-pages.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { isNoLater, newGeneration } from "./inventory-pages.ts";
import { batchGet, queryRows } from "./read-rows.ts";
import { bytesOf, keyOf, numberOf, objectPartition, type Row, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { batchWrite, fencedWrites } from "./write-rows.ts";

/** A set of at most this size is stored in the row that describes it: some thousand tags, with one write and one read. */
const maxInlineBytes = 32 * 1024;
/** Another scan may replace the pages while they are read. */
const maxTries = 4;

/**
 * One row describes the set and names the generation of its pages. They are written before under a new generation, and the row is
 * replaced under the fence: a reader finds the old or the new set, and the pages of a writer that died are removed by the next one.
 */
export function dynamodbImageTags(table: StateTable): ImageTags {
  const readHead = async (key: WorkKey, signal: AbortSignal): Promise<Row | undefined> => {
    const command = new GetItemCommand({ TableName: table.name, Key: keyOf(headKey(key)), ConsistentRead: true });
    const { Item: item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
    return item;
  };

  /** Undefined if a page is missing. */
  const readPages = async (
    key: WorkKey,
    head: Row,
    signal: AbortSignal,
  ): Promise<readonly Uint8Array[] | undefined> => {
    if (head["inline"] !== undefined) return [bytesOf(head, "inline")];
    const generation = textOf(head, "generation");
    const keys = Array.from({ length: numberOf(head, "pages") }, (_, page) => pageKey(key, generation, page));
    const rows = await batchGet(table, keys, signal);
    const bySortKey = new Map(rows.map((row) => [textOf(row, "sk"), bytesOf(row, "tags")]));
    const pages = keys.flatMap(({ sk }) => bySortKey.get(sk) ?? []);
    return pages.length === keys.length ? pages : undefined;
  };

  /** Removes the pages of all generations but this one that no later holder of the lease has written. */
  const collect = async (kept: string | undefined, fence: Fence, signal: AbortSignal): Promise<void> => {
    const query = {
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": { S: pagesPartition(fence.key) } },
      ProjectionExpression: "pk, sk",
    };
    const rows = await queryRows(table, query, signal);
    const deletes = rows
      .map((row) => ({ pk: textOf(row, "pk"), sk: textOf(row, "sk") }))
      .filter(({ sk }) => generationIn(sk) !== kept && isNoLater(sk, fence));
    await batchWrite(table, { deletes }, signal);
  };

  return {
    async put({ tags, revision }, fence, signal) {
      const { key } = fence;
      const pages = packTags(tags);
      const digest = digestOfPages(pages);
      const before = await readHead(key, signal);
      if (before !== undefined && textOf(before, "digest") === digest && textOf(before, "revision") === revision)
        return;
      const generation = newGeneration(fence);
      const [only = new Uint8Array()] = pages;
      const isInline = pages.length === 1 && only.length <= maxInlineBytes;
      if (!isInline) {
        const puts = pages.map((bytes, page) => ({ ...keyOf(pageKey(key, generation, page)), tags: { B: bytes } }));
        await batchWrite(table, { puts }, signal);
      }
      const head: Row = {
        ...keyOf(headKey(key)),
        ...{ revision: { S: revision }, digest: { S: digest }, generation: { S: generation } },
        ...{ count: { N: String(tags.length) }, pages: { N: String(pages.length) } },
        ...(isInline ? { inline: { B: only } } : {}),
      };
      await fencedWrites(table, fence, [{ Put: { TableName: table.name, Item: head } }], signal);
      await collect(isInline ? undefined : generation, fence, signal);
    },
    async get(repository, signal) {
      for (let tries = 0; tries < maxTries; tries++) {
        const head = await readHead(repository, signal);
        if (head === undefined) return undefined;
        const pages = await readPages(repository, head, signal);
        if (pages !== undefined) return { tags: unpackTags(pages), revision: textOf(head, "revision") };
      }
      return undefined;
    },
    async describe(repository, signal) {
      const head = await readHead(repository, signal);
      return head === undefined ? undefined : { revision: textOf(head, "revision"), count: numberOf(head, "count") };
    },
    async remove(fence, signal) {
      if ((await readHead(fence.key, signal)) !== undefined) {
        await fencedWrites(
          table,
          fence,
          [{ Delete: { TableName: table.name, Key: keyOf(headKey(fence.key)) } }],
          signal,
        );
      }
      await collect(undefined, fence, signal);
    },
  };
}

function headKey(key: WorkKey): RowKey {
  return { pk: objectPartition(key), sk: "tags" };
}

function pagesPartition(key: WorkKey): string {
  return `${objectPartition(key)}#tags`;
}

function pageKey(key: WorkKey, generation: string, page: number): RowKey {
  return { pk: pagesPartition(key), sk: `${generation}#${page}` };
}

function generationIn(sk: string): string {
  return sk.slice(0, sk.lastIndexOf("#"));
}
