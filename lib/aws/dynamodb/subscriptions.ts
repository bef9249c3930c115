import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import { digestOf } from "../../core/digest.ts";
import { type FollowsText, followsByTopic, parseFollows } from "../../core/follows.ts";
import type { Follower, Subscriptions } from "../../core/ports/subscriptions.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../../core/work-key.ts";
import { batchGet, queryRows } from "./read-rows.ts";
import { gaveUp, retryBudget } from "./retry-budget.ts";
import type { RowCache } from "./row-cache.ts";
import { bytesOf, keyOf, keyPart, numberOf, objectPartition, pack, type Row, textOf, unpack } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { fencedWrites, maxFencedWrites } from "./write-rows.ts";

/** The most subscriptions that change in one transaction besides the object's own list of them. */
const maxChanges = maxFencedWrites - 1;

/**
 * The object's own list: for each topic, as a part of a key, the entry that names the row. It is the topic itself if everything is
 * followed, the only form of earlier releases; otherwise the digest of the followed part is on a second line. For an earlier release that
 * is another topic, which it replaces by its own row: after a rollback the object follows everything.
 */
type Entries = ReadonlyMap<string, string>;

interface ObjectTopics {
  /** 0 if the object has no subscriptions yet. */
  readonly version: number;
  readonly entries: Entries;
}

const EntryTexts = z.array(z.string());

/**
 * One row for each pair of subscriber and topic, and one with the object's own list of topics, changed in the same transaction. The digest
 * of the list is written to the row of the work item, which every run reads and whose lease is checked anyway.
 */
export function dynamodbSubscriptions(table: StateTable, rowCache: RowCache): Subscriptions {
  const followers = async (topic: string, signal: AbortSignal): Promise<readonly Follower[]> => {
    const query = {
      ConsistentRead: true,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": { S: topicPartition(keyPart(topic)) } },
    };
    const rows = await queryRows(table, query, signal);
    return rows
      .map((row) => ({ text: textOf(row, "key"), follows: parseFollows(row["follows"]?.S) }))
      .toSorted((a, b) => (a.text < b.text ? -1 : 1))
      .map(({ text, follows }) => ({ key: parseWorkKey(text), follows }));
  };
  return {
    async subscribe(subscriptions, fence, signal) {
      const { key } = fence;
      const follows = new Map([...followsByTopic(subscriptions)].map(([topic, text]) => [keyPart(topic), text]));
      const after: Entries = new Map([...follows].map(([topic, text]) => [topic, entryOf(topic, text)]));
      // Nearly every run has the same subscriptions as the one before.
      if (rowCache.subscriptionsOf(key) === digestOfList(after)) return;
      // A call that ends between two transactions leaves a different list.
      rowCache.setSubscriptions(key, undefined);
      const budget = retryBudget(table.clock);
      for (;;) {
        const before = await readTopics(table, key, signal);
        const next = oneStep(before.entries, after);
        if (next === undefined) break;
        const mark = { attribute: "edges", value: digestOfList(next) };
        const writes = changes(table, key, before, next, follows);
        const refused = await fencedWrites(table, fence, writes, signal, mark);
        // An earlier try of this run has changed the list: read it again.
        if (refused.length > 0 && !(await budget.again(signal))) {
          throw gaveUp(table.name, "TransactWriteItems", `others change the subscriptions of ${formatWorkKey(key)}`);
        }
      }
      rowCache.setSubscriptions(key, digestOfList(after));
    },
    followers,
    subscribers: async (topic, signal) => (await followers(topic, signal)).map(({ key }) => key),
  };
}

/** The next list on the way to `after` that one transaction can reach; undefined at its end. Adds before it removes. */
function oneStep(before: Entries, after: Entries): Entries | undefined {
  const put = [...after].filter(([topic, entry]) => before.get(topic) !== entry).slice(0, maxChanges);
  const removed = [...before.keys()].filter((topic) => !after.has(topic)).slice(0, maxChanges - put.length);
  if (put.length + removed.length === 0) return undefined;
  const next = new Map([...before, ...put]);
  for (const topic of removed) next.delete(topic);
  return next;
}

function changes(
  { name: TableName }: StateTable,
  key: WorkKey,
  { version, entries }: ObjectTopics,
  next: Entries,
  follows: ReadonlyMap<string, FollowsText>,
): readonly TransactWriteItem[] {
  const text = formatWorkKey(key);
  const rowKey = (topic: string) => keyOf({ pk: topicPartition(topic), sk: keyPart(text) });
  const row = (topic: string): Row => {
    const what = follows.get(topic);
    return { ...rowKey(topic), key: { S: text }, ...(what === undefined ? {} : { follows: { S: what } }) };
  };
  const own: Row = {
    ...keyOf(listRowKey(key)),
    version: { N: String(version + 1) },
    whats: { B: pack(listText(next)) },
  };
  const unchanged =
    version === 0
      ? { ConditionExpression: "attribute_not_exists(pk)" }
      : {
          ConditionExpression: "#version = :before",
          ExpressionAttributeNames: { "#version": "version" },
          ExpressionAttributeValues: { ":before": { N: String(version) } },
        };
  return [
    { Put: { TableName, Item: own, ...unchanged } },
    ...[...next]
      .filter(([topic, entry]) => entries.get(topic) !== entry)
      .map(([topic]) => ({ Put: { TableName, Item: row(topic) } })),
    ...[...entries.keys()]
      .filter((topic) => !next.has(topic))
      .map((topic) => ({ Delete: { TableName, Key: rowKey(topic) } })),
  ];
}

async function readTopics(table: StateTable, key: WorkKey, signal: AbortSignal): Promise<ObjectTopics> {
  const [row] = await batchGet(table, [listRowKey(key)], signal);
  if (row === undefined) return { version: 0, entries: new Map() };
  const texts = EntryTexts.parse(JSON.parse(unpack(bytesOf(row, "whats"))));
  return { version: numberOf(row, "version"), entries: new Map(texts.map((entry) => [topicOf(entry), entry])) };
}

function listRowKey(key: WorkKey): { pk: string; sk: string } {
  return { pk: objectPartition(key), sk: "edges" };
}

/** @param topic as a part of a key */
function topicPartition(topic: string): string {
  return `edge#${topic}`;
}

/** @param topic as a part of a key */
function entryOf(topic: string, follows: FollowsText): string {
  return follows === undefined ? topic : `${topic}\n${shortDigest(follows)}`;
}

function topicOf(entry: string): string {
  return entry.replace(/\n[0-9a-f]{32}$/u, "");
}

function listText(entries: Entries): string {
  return JSON.stringify([...entries.values()].toSorted());
}

function digestOfList(entries: Entries): string {
  return shortDigest(listText(entries));
}

/** Short, since it makes the row of the work item longer. */
function shortDigest(text: string): string {
  return digestOf(text).slice("sha256:".length, "sha256:".length + 32);
}
