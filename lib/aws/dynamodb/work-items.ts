import { randomUUID } from "node:crypto";
import { type AttributeValue, ConditionalCheckFailedException, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { digestOf } from "../../core/digest.ts";
import {
  type ListedItems,
  overdueAt,
  overduePageSize,
  type WorkItem,
  type WorkItems,
} from "../../core/ports/work-items.ts";
import { clusterOfText, formatWorkKey } from "../../core/work-key.ts";
import { formatStoredWorkItem, listItems, parseStoredWorkItem } from "../../queue/stored-work-item.ts";
import { leaseMs } from "../../queue/timing.ts";
import { AwsFault } from "../aws-fault.ts";
import { ownerOfPointer, pointerOf } from "./inventory-pointer.ts";
import { batchGet, queryPages, queryRows } from "./read-rows.ts";
import type { ReadRows, RowCache } from "./row-cache.ts";
import { keyOf, numberOf, objectPartition, objectPrefix, type Row, textOf, workRowKey, workSortKey } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { dueIndex } from "./table.ts";

/** The item and the pointers of the latest owners: a recreated object leaves those of its predecessors. */
const maxOwnRows = 4;

/** Work items, each one row. The inventory pointers and the digest of topics that are read with one are cached. */
export function dynamodbWorkItems(table: StateTable, rowCache: RowCache): WorkItems {
  return {
    async get(key, signal) {
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :work)",
        ExpressionAttributeValues: { ":pk": { S: objectPartition(key) }, ":work": { S: workSortKey } },
        Limit: maxOwnRows,
      };
      const rows = readRowsOf(await queryRows(table, query, signal, maxOwnRows));
      rowCache.itemRead(key, rows);
      return rows?.item;
    },
    async put(item, signal) {
      const answer = await store(table, item, signal);
      if (answer === "stored") rowCache.itemStored(item);
      return answer;
    },
    overdue: (now, isWanted, signal) => overdueItems(table, now, isWanted, signal),
  };
}

function readRowsOf(rows: readonly Row[]): ReadRows | undefined {
  const [row, ...pointers] = rows;
  const item = row === undefined ? undefined : workItemOf(row);
  if (row === undefined || item === undefined) return undefined;
  // Rows of one answer may be from different moments: only the pointer whose generation the item's row names is the latest.
  const latest = row["inventory"]?.S;
  const pointer = pointers.find((candidate) => candidate["generation"]?.S === latest);
  const owner = pointer && ownerOfPointer(pointer);
  const known = pointer && owner !== undefined ? { owner, pointer: pointerOf(pointer) } : undefined;
  return { item, subscriptions: row["edges"]?.S, inventory: latest === undefined ? "none" : known };
}

async function store(table: StateTable, item: WorkItem, signal: AbortSignal): Promise<"stored" | "conflict"> {
  // Identifies this write, so that a repeated try recognises its own earlier write.
  const name = randomUUID();
  let sends = 0;
  try {
    const command = storeCommand(table, item, name);
    await table.call(
      "UpdateItem",
      (client, options) => {
        sends += 1;
        return client.send(command, options);
      },
      signal,
    );
    return "stored";
  } catch (error) {
    if (!(error instanceof AwsFault && error.cause instanceof ConditionalCheckFailedException)) throw error;
    const {
      Item: found = {},
      $metadata: { attempts = 1 },
    } = error.cause;
    if (found["write"]?.S === name) return "stored";
    const isPast = found["version"] !== undefined && numberOf(found, "version") > item.version;
    // An earlier try of ours may have been stored and then overwritten: we cannot know.
    if (isPast && sends + attempts > 2) throw error;
    return "conflict";
  }
}

/** An update and not a put: other writes set marks on the same row. */
function storeCommand(table: StateTable, item: WorkItem, name: string): UpdateItemCommand {
  const attributes: Record<string, AttributeValue | undefined> = { ...workAttributes(item), write: { S: name } };
  const names = Object.keys(attributes);
  const set = names.filter((attribute) => attributes[attribute] !== undefined);
  const remove = names.filter((attribute) => attributes[attribute] === undefined);
  const isFirst = item.version === 1;
  const values = set.map((attribute) => [`:${attribute}`, attributes[attribute]] as const);
  return new UpdateItemCommand({
    TableName: table.name,
    Key: keyOf(workRowKey(item.key)),
    UpdateExpression: [
      `SET ${set.map((attribute) => `#${attribute} = :${attribute}`).join(", ")}`,
      ...(remove.length === 0 ? [] : [`REMOVE ${remove.map((attribute) => `#${attribute}`).join(", ")}`]),
    ].join(" "),
    ConditionExpression: isFirst ? "attribute_not_exists(#version)" : "#version = :before",
    ExpressionAttributeNames: Object.fromEntries(names.map((attribute) => [`#${attribute}`, attribute])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(values.flatMap(([value, of]) => (of === undefined ? [] : [[value, of]]))),
      ...(isFirst ? {} : { ":before": { N: String(item.version - 1) } }),
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
}

/** The rows of the index that one query reads of a shard: about 300 KB. */
const indexPageRows = 1_000;

/** The most rows of the present minute that one call reads: most of them are not due yet, and are found a minute later. */
const maxOfPresentMinute = 300;

/** Walks the shards of the index side by side. It names the items; each is then read to know its present state. */
async function* overdueItems(
  table: StateTable,
  now: number,
  isWanted: (cluster: string) => boolean,
  signal: AbortSignal,
): AsyncGenerator<ListedItems> {
  let ofPresentMinute = 0;
  const isRead = (row: Row): boolean => {
    const cluster = clusterOfText(textOf(row, "pk").slice(objectPrefix.length));
    // A long key is in the index as its digest: the item says which cluster it is of.
    if (cluster !== "" && !isWanted(cluster)) return false;
    return numberOf(row, "overdue") < minuteOf(now) || (ofPresentMinute += 1) <= maxOfPresentMinute;
  };
  const shards = Array.from({ length: shardCount }, (_, shard) => indexPages(table, shard, now, signal));
  for (;;) {
    const pages = await Promise.all(shards.map((shard) => shard.next()));
    if (pages.every(({ done }) => done === true)) return;
    const rows = pages
      .flatMap(({ done, value }) => (done === true ? [] : value))
      .toSorted((a, b) => numberOf(a, "overdue") - numberOf(b, "overdue"));
    for (const named of chunksOf(rows, isRead)) yield await overdueAmong(table, named, now, isWanted, signal);
  }
}

/** Asks for the rows of each chunk when it is sent, since the answer may change while earlier chunks are processed. */
function* chunksOf(rows: readonly Row[], isRead: (row: Row) => boolean): Generator<readonly Row[]> {
  let chunk: Row[] = [];
  for (const row of rows) {
    if (!isRead(row)) continue;
    chunk.push(row);
    if (chunk.length < overduePageSize) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function overdueAmong(
  table: StateTable,
  named: readonly Row[],
  now: number,
  isWanted: (cluster: string) => boolean,
  signal: AbortSignal,
): Promise<ListedItems> {
  const keys = named.map((row) => ({ pk: textOf(row, "pk"), sk: textOf(row, "sk") }));
  const { items, unreadable } = listItems(await batchGet(table, keys, signal), workItemOf);
  const overdue = items
    .flatMap((item) => {
      const at = overdueAt(item);
      const isOverdue = at !== undefined && at <= now && isWanted(item.key.cluster);
      return isOverdue ? [{ at, key: formatWorkKey(item.key), item }] : [];
    })
    .toSorted((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
  return { items: overdue, unreadable };
}

function indexPages(
  table: StateTable,
  shard: number,
  now: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  const query = {
    IndexName: dueIndex,
    KeyConditionExpression: "#shard = :shard AND overdue <= :now",
    ExpressionAttributeNames: { "#shard": "shard" },
    ExpressionAttributeValues: { ":shard": { S: shardName(shard) }, ":now": { N: String(now) } },
    Limit: indexPageRows,
  };
  return queryPages(table, query, signal);
}

/**
 * The number of shards of the due index. Each takes 1,000 writes a second, and every sweep queries each. Rows contain their shard, so
 * a higher number needs no new layout; a lower one does.
 */
const shardCount = 8;

/**
 * The index stores due times by the minute, rounded down, and for an item under way the minute in which it began: taking a due lease,
 * renewing it and a burst of requests then change no key of the index, which would cost two writes. The item itself has the exact time.
 */
const bucketMs = 60_000;

/** When the sweep's index shows an item: never later than {@link overdueAt}; undefined if it waits for nothing. */
function indexedAt({ wakeUntil, dueAt }: WorkItem): number | undefined {
  const at = wakeUntil === undefined ? dueAt : wakeUntil - leaseMs;
  return at === undefined ? undefined : Math.max(0, minuteOf(at));
}

function minuteOf(time: number): number {
  return Math.floor(time / bucketMs) * bucketMs;
}

function shardName(shard: number): string {
  return `due#${shard}`;
}

/** The attributes of the row besides its key. An undefined one must not be in the row. */
export function workAttributes(item: WorkItem): Readonly<Record<string, AttributeValue | undefined>> {
  const indexed = indexedAt(item);
  return {
    version: { N: String(item.version) },
    token: { N: String(item.token) },
    // For the condition of fenced writes, and for people.
    holder: item.lease === undefined ? undefined : { S: item.lease.holder },
    item: { S: formatStoredWorkItem(item) },
    shard: indexed === undefined ? undefined : { S: shardName(shardOf(item)) },
    overdue: indexed === undefined ? undefined : { N: String(indexed) },
  };
}

/**
 * Undefined if the row has no work item yet, since its subscriptions were written first. Throws an `UnreadableWorkItem` if this
 * release cannot read it.
 */
function workItemOf(row: Row): WorkItem | undefined {
  return row["item"] === undefined ? undefined : parseStoredWorkItem(textOf(row, "item"), textOf(row, "pk"));
}

function shardOf({ key }: WorkItem): number {
  return Number.parseInt(digestOf(formatWorkKey(key)).slice("sha256:".length, "sha256:".length + 4), 16) % shardCount;
}
