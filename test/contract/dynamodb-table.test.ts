import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStateTable } from "../../lib/aws/dynamodb/create-state-table.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import type { InventoryEntry } from "../../lib/core/ports/inventory-store.ts";
import type { WorkItem } from "../../lib/core/ports/work-items.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { observeAll } from "../../lib/queue/observe-resource.ts";
import { leaseMs } from "../../lib/queue/timing.ts";
import { faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { realAws } from "./real-aws.ts";
import { keyOf, leased, never, overdueItems, workItem } from "./state-back-end.ts";

const connection = realAws("DYNAMODB");
const key = keyOf("web");
const owner = { uid: "uid", clusterUid: "cluster" };
const entry: InventoryEntry = { id: "apps_web_apps_Deployment", version: "v1", state: "live" };

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };
  let client: DynamoDBClient;
  beforeAll(() => {
    client = dynamodbClient(of);
  });
  afterAll(() => client.destroy());
  const openOn = (name: string) => openDynamodbStores({ client, name, region: of.region, clock: systemClock });

  test("a missing table is named, and is used once it exists", async () => {
    const name = `sluice-${randomUUID()}`;
    const { items } = openOn(name);
    await expect(items.get(key, never)).rejects.toMatchObject({
      reason: "missing",
      message: expect.stringContaining(`table ${name}: it does not exist in region`),
    });
    await createStateTable(client, name, never);
    expect(await items.get(key, never)).toBeUndefined();
    await client.send(new DeleteTableCommand({ TableName: name }));
  });

  test.each([
    {
      what: "of a newer layout",
      schema: "pk",
      layout: "99",
      words: "it was written by a newer Sluice .layout 99; this is Sluice .*, which knows 1",
    },
    { what: "with other keys", schema: "id", layout: undefined, words: "its keys or its index differ" },
    { what: "without its index", schema: "pk", layout: "1", words: "its keys or its index differ" },
  ])("a table $what is refused before any write", async ({ schema, layout, words }) => {
    const name = `sluice-${randomUUID()}`;
    const names = schema === "pk" ? ["pk", "sk"] : [schema];
    await client.send(
      new CreateTableCommand({
        TableName: name,
        AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
        KeySchema: names.map((AttributeName, index) => ({ AttributeName, KeyType: index === 0 ? "HASH" : "RANGE" })),
        BillingMode: "PAY_PER_REQUEST",
      }),
    );
    if (layout !== undefined) {
      const item = { pk: { S: "layout" }, sk: { S: "layout" }, version: { N: layout } };
      await client.send(new PutItemCommand({ TableName: name, Item: item }));
    }
    await expect(overdueItems(openOn(name).items, 1)).rejects.toMatchObject({
      name: "LayoutError",
      message: expect.stringMatching(
        new RegExp(`^table ${name} has another layout: .*${words}.*; run the release of Sluice that`),
      ),
    });
    await client.send(new DeleteTableCommand({ TableName: name }));
  });

  test("a run that changes nothing reads the table once, and writes twice: to take its lease and to release it", async () => {
    await using wire = await faultyDynamodb(of.endpoint ?? "", () => undefined);
    const state = await newDynamodb(of, { endpoint: wire.url });
    const fence = await leased(state, key);
    await state.subscriptions.subscribe(["src#a"], fence, never);
    await state.inventories.save(owner, [entry], fence, never);
    await state.items.put(workItem(key, { version: 2, token: 1 }), never);
    const before = wire.seen.length;

    const next = await leased(state, key);
    await state.subscriptions.subscribe(["src#a"], next, never);
    expect(await state.inventories.load(owner, next, never)).toEqual([entry]);
    await state.items.put(workItem(key, { version: 4, token: 2 }), never);
    expect(wire.seen.slice(before)).toEqual(["Query", "UpdateItem", "UpdateItem"]);
    await state.close();
  });

  test("a run that starts when it is due changes no key of the sweep's index until it ends", async () => {
    const state = await newDynamodb(of);
    const dueAt = 600_000;
    const indexed = async (version: number, fields: Partial<WorkItem>): Promise<string | undefined> => {
      await state.items.put(workItem(key, { version, ...fields }), never);
      const { Items: rows = [] } = await state.client.send(
        new ScanCommand({ TableName: state.name, ConsistentRead: true }),
      );
      return rows.find(({ sk }) => sk?.S === "work")?.["overdue"]?.N;
    };
    expect(await indexed(1, { dueAt })).toBe("600000");
    const lease = { holder: "h", renewals: 0 };
    expect(await indexed(2, { lease, wakeUntil: dueAt + 2_000 + leaseMs, token: 1 })).toBe("600000");
    expect(await indexed(3, { dueAt: dueAt + 601_000, token: 1 })).toBe("1200000");
    await state.close();
  });

  test("a sweep without news reads the summaries of 200 resources in one call", async () => {
    await using wire = await faultyDynamodb(of.endpoint ?? "", () => undefined);
    const state = await newDynamodb(of, { endpoint: wire.url });
    const present = Array.from({ length: 200 }, (_, index) => ({
      key: keyOf(`app-${index}`),
      metadata: { name: `app-${index}`, uid: `${index}`, generation: 1 },
    }));
    const requests = { request: async () => undefined };
    const deps = { observed: state.observed, requests, subscriptions: { subscribers: async () => [] } };
    expect(await observeAll(key, present, deps, never)).toMatchObject({ asked: 200 });
    const before = wire.seen.length;
    expect(await observeAll(key, present, deps, never)).toMatchObject({ asked: 0 });
    expect(wire.seen.slice(before)).toEqual(["Query"]);
    await state.close();
  });

  test("a successor loads what a holder that is presumed dead has saved", async () => {
    const state = await newDynamodb(of);
    const [first, second] = [openOn(state.name), openOn(state.name)];
    const fence = await leased({ ...state, ...first }, key);
    await first.inventories.save(owner, [], fence, never);
    const seen = await second.items.get(key, never);
    await first.inventories.save(owner, [entry], fence, never);
    const lease = { holder: "second", renewals: 0 };
    await second.items.put(workItem(key, { version: (seen?.version ?? 0) + 1, token: 2, lease }), never);
    expect(await second.inventories.load(owner, { key, token: 2 }, never)).toEqual([entry]);
    await state.close();
  });

  test("a process that takes the lease without reading does not miss saves of another since the item was read", async () => {
    const state = await newDynamodb(of);
    const [here, elsewhere] = [openOn(state.name), openOn(state.name)];
    const fence = await leased({ ...state, ...here }, key);
    await here.inventories.save(owner, [], fence, never);
    await here.items.put(workItem(key, { version: 2, token: 1 }), never);
    await here.items.get(key, never);
    const other = await leased({ ...state, ...elsewhere }, key);
    await elsewhere.inventories.save(owner, [entry], other, never);
    await elsewhere.items.put(workItem(key, { version: 4, token: 2 }), never);
    // By a write that no read of this process came before.
    const again = { version: 5, token: 3, lease: { holder: "here", renewals: 0 } };
    expect(await here.items.put(workItem(key, again), never)).toBe("stored");
    expect(await here.inventories.load(owner, { key, token: 3 }, never)).toEqual([entry]);
    await state.close();
  });

  test("an inventory whose writer died is read completely, and its leftovers are removed later", async () => {
    const state = await newDynamodb(of);
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const stores = openDynamodbStores({ client, name: state.name, region: of.region, clock });
    const fence = await leased({ ...state, ...stores }, key);
    const many = Array.from({ length: 100 }, (_, index) => ({ ...entry, id: `apps_${randomUUID()}__Service${index}` }));
    await stores.inventories.save(owner, many, fence, never);
    const successor = await leased({ ...state, ...stores }, key);
    // A holder without its lease writes pages and does not come to the pointer.
    await expect(stores.inventories.save(owner, many.slice(1), fence, never)).rejects.toThrow("no longer held");
    expect(await stores.inventories.load(owner, successor, never)).toEqual(many);
    expect(await pagesIn(state.name)).toBe(2);
    now += 700_000;
    await stores.inventories.save(owner, many.slice(2), successor, never);
    expect(await stores.inventories.load(owner, successor, never)).toEqual(many.slice(2));
    expect(await pagesIn(state.name)).toBe(1);
    await state.close();
  });

  async function pagesIn(table: string): Promise<number> {
    const { Items: items = [] } = await client.send(new ScanCommand({ TableName: table }));
    return items.filter(({ pk }) => pk?.S?.includes("#inv#")).length;
  }
});
