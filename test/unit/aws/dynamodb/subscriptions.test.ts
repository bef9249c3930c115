import { DeleteItemCommand, type DynamoDBClient, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type DynamodbStores, openDynamodbStores } from "../../../../lib/aws/dynamodb/open-stores.ts";
import { bytesOf, pack, keyOf as rowKeyOf, textOf, unpack } from "../../../../lib/aws/dynamodb/rows.ts";
import { dynamodbClient } from "../../../../lib/aws/dynamodb/state-table.ts";
import type { Follows, Subscription } from "../../../../lib/core/follows.ts";
import { formatWorkKey } from "../../../../lib/core/work-key.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { keyOf, leased, never } from "../../../contract/state-back-end.ts";
import { deadlineMs } from "../../../deadline.ts";
import { type LaggingDynamodb, laggingDynamodb } from "../../../doubles/lagging-dynamodb.ts";

const region = "eu-west-1";
const name = "sluice";
const key = keyOf("web");
const v1: Follows = { kind: "names", names: ["v1"] };
const v2: Follows = { kind: "names", names: ["v2"] };
const repository = "repo#host/app";

let table: LaggingDynamodb;
let client: DynamoDBClient;
let stores: DynamodbStores;
let transactions: number;
beforeEach(async () => {
  table = await laggingDynamodb({ lags: false });
  const credentials = { accessKeyId: "x", secretAccessKey: "y" };
  client = dynamodbClient({ region, endpoint: table.url, credentials, attemptTimeoutMs: deadlineMs });
  transactions = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      (call) => {
        if (commandName === "TransactWriteItemsCommand") transactions += 1;
        return next(call);
      },
    { step: "initialize" },
  );
  stores = openDynamodbStores({ name, region, client, clock: systemClock });
});
afterEach(async () => {
  client.destroy();
  await table[Symbol.asyncDispose]();
});

/** As the next run of the object, in any process. */
async function subscribe(...subscriptions: readonly Subscription[]): Promise<void> {
  stores = openDynamodbStores({ name, region, client, clock: systemClock });
  await stores.subscriptions.subscribe(subscriptions, await leased(stores, key), never);
}
const followed = () => stores.subscriptions.followers(repository, never);

/** The object's own list of topics, as its row has it. */
async function list(): Promise<readonly string[]> {
  const { Items: rows = [] } = await client.send(new ScanCommand({ TableName: name }));
  const own = rows.find((row) => textOf(row, "sk") === "edges");
  return own === undefined ? [] : z.array(z.string()).parse(JSON.parse(unpack(bytesOf(own, "whats"))));
}

describe("the part of a topic that a subscription follows is written", () => {
  test("once, and again only if it has changed", async () => {
    await subscribe({ topic: repository, follows: v1 }, "src#a");
    expect(transactions).toBe(1);
    await subscribe("src#a", { topic: repository, follows: v1 });
    expect(transactions).toBe(1);
    await subscribe("src#a", { topic: repository, follows: v2 });
    expect(transactions).toBe(2);
  });

  test("not at all for an object that follows whole topics, as in earlier releases", async () => {
    await subscribe("src#a", "dep#b");
    expect(await list()).toEqual(["dep#b", "src#a"]);
    await subscribe("dep#b", "src#a");
    expect(transactions).toBe(1);
  });
});

describe("next to an earlier release, which knows only topics", () => {
  /** What the earlier release writes where the list has other texts than the topics that it subscribes to. */
  async function asEarlier(topics: readonly string[]): Promise<void> {
    const before = await list();
    const row = (topic: string) => rowKeyOf({ pk: `edge#${topic}`, sk: formatWorkKey(key) });
    for (const topic of topics.filter((one) => !before.includes(one))) {
      const Item = { ...row(topic), key: { S: formatWorkKey(key) } };
      await client.send(new PutItemCommand({ TableName: name, Item }));
    }
    for (const topic of before.filter((one) => !topics.includes(one))) {
      await client.send(new DeleteItemCommand({ TableName: name, Key: row(topic) }));
    }
    const own = { ...rowKeyOf({ pk: `obj#${formatWorkKey(key)}`, sk: "edges" }), version: { N: "7" } };
    const Item = { ...own, whats: { B: pack(JSON.stringify(topics)) } };
    await client.send(new PutItemCommand({ TableName: name, Item }));
  }

  test("a row without a followed part counts for everything, and the next run narrows it", async () => {
    await subscribe(repository);
    expect(await followed()).toEqual([{ key, follows: undefined }]);
    await subscribe({ topic: repository, follows: v1 });
    expect(await followed()).toEqual([{ key, follows: v1 }]);
  });

  test("after a rollback the earlier release finds its subscribers, and its next run follows everything", async () => {
    await subscribe({ topic: repository, follows: v1 });
    expect((await stores.subscriptions.subscribers(repository, never)).map(formatWorkKey)).toEqual([
      formatWorkKey(key),
    ]);
    await asEarlier([repository]);
    expect(await list()).toEqual([repository]);
    expect(await followed()).toEqual([{ key, follows: undefined }]);
    await subscribe({ topic: repository, follows: v2 });
    expect(await followed()).toEqual([{ key, follows: v2 }]);
  });

  test("a subscription that the earlier release has ended stays ended", async () => {
    await subscribe({ topic: repository, follows: v1 }, "src#a");
    await asEarlier(["src#a"]);
    await subscribe("src#a");
    expect(await list()).toEqual(["src#a"]);
  });

  test("a part that only a newer release can follow counts for everything", async () => {
    await subscribe({ topic: repository, follows: v1 });
    const Item = {
      ...rowKeyOf({ pk: `edge#${repository}`, sk: formatWorkKey(key) }),
      key: { S: formatWorkKey(key) },
      follows: { S: '{"kind":"phase of the moon"}' },
    };
    await client.send(new PutItemCommand({ TableName: name, Item }));
    expect(await followed()).toEqual([{ key, follows: undefined }]);
  });
});
