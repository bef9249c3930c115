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
import { dynamodbClient } from "../../lib/aws/dynamodb/dynamodb-client.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import type { InventoryEntry } from "../../lib/core/ports/inventory-store.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { noticeAll } from "../../lib/queue/notice-resource.ts";
import { faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { realAws } from "./real-aws.ts";
import { keyOf, leased, never, workItem } from "./state-back-end.ts";

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

  test("a table that is not there is named, and is used once it is there", async () => {
    const name = `sluice-${randomUUID()}`;
    const { items } = openOn(name);
    await expect(items.get(key, never)).rejects.toMatchObject({
      kind: "missing",
      message: expect.stringContaining(`table ${name}: there is none in region`),
    });
    await createStateTable(client, name, never);
    expect(await items.get(key, never)).toBeUndefined();
    await client.send(new DeleteTableCommand({ TableName: name }));
  });

  test.each([
    { what: "of a later layout", schema: "pk", layout: "99", words: "it has layout 99" },
    { what: "with other keys", schema: "id", layout: undefined, words: "its keys or its index are other ones" },
    { what: "without its index", schema: "pk", layout: "1", words: "its keys or its index are other ones" },
  ])("a table $what is refused before anything is written", async ({ schema, layout, words }) => {
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
    await expect(openOn(name).items.overdue(1, 1, never)).rejects.toMatchObject({
      name: "LayoutError",
      message: expect.stringMatching(new RegExp(`^table ${name} is of another layout: .*${words}.*; deploy the table`)),
    });
    await client.send(new DeleteTableCommand({ TableName: name }));
  });

  test("a run that changes nothing reads the table once, and writes to take and to give back its lease", async () => {
    await using wire = await faultyDynamodb(of.endpoint ?? "", () => undefined);
    const state = await newDynamodb(of, { endpoint: wire.url });
    const fence = await leased(state, key);
    await state.edges.listen(["src#a"], fence, never);
    await state.inventories.save(owner, [entry], fence, never);
    await state.items.put(workItem(key, { version: 2, token: 1 }), never);
    const before = wire.seen.length;

    const next = await leased(state, key);
    await state.edges.listen(["src#a"], next, never);
    expect(await state.inventories.load(owner, next, never)).toEqual([entry]);
    await state.items.put(workItem(key, { version: 4, token: 2 }), never);
    expect(wire.seen.slice(before)).toEqual(["Query", "UpdateItem", "UpdateItem"]);
    await state.close();
  });

  test("a sweep that finds nothing new asks for what was seen of 200 resources in one call", async () => {
    await using wire = await faultyDynamodb(of.endpoint ?? "", () => undefined);
    const state = await newDynamodb(of, { endpoint: wire.url });
    const present = Array.from({ length: 200 }, (_, index) => ({
      key: keyOf(`app-${index}`),
      metadata: { name: `app-${index}`, uid: `${index}`, generation: 1 },
    }));
    const requests = { request: async () => undefined };
    const deps = { sightings: state.sightings, requests };
    expect(await noticeAll(key, present, deps, never)).toBe(200);
    const before = wire.seen.length;
    expect(await noticeAll(key, present, deps, never)).toBe(0);
    expect(wire.seen.slice(before)).toEqual(["Query"]);
    await state.close();
  });

  test("what a holder that is taken for dead saves before it is, its successor loads", async () => {
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

  test("what another process has saved since the item was read is not missed by one that takes the lease without reading", async () => {
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

  test("an inventory that a writer died over is found whole, and what it left is removed in time", async () => {
    const state = await newDynamodb(of);
    let now = Date.now();
    const clock = { ...systemClock, now: () => now };
    const stores = openDynamodbStores({ client, name: state.name, region: of.region, clock });
    const fence = await leased({ ...state, ...stores }, key);
    const many = Array.from({ length: 100 }, (_, index) => ({ ...entry, id: `apps_${randomUUID()}__Service${index}` }));
    await stores.inventories.save(owner, many, fence, never);
    const successor = await leased({ ...state, ...stores }, key);
    // A holder without its lease writes pages and does not come to the pointer.
    await expect(stores.inventories.save(owner, many.slice(1), fence, never)).rejects.toThrow("not held");
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
