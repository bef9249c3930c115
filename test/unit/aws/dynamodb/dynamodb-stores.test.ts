import { type DynamoDBClient, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DynamodbStores, openDynamodbStores } from "../../../../lib/aws/dynamodb/open-stores.ts";
import { keyOf as rowKeyOf, textOf } from "../../../../lib/aws/dynamodb/rows.ts";
import { dynamodbClient } from "../../../../lib/aws/dynamodb/state-table.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";
import type { Claim } from "../../../../lib/core/ports/ledger.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { dynamodbInventoryContract } from "../../../contract/dynamodb-inventory.ts";
import { keyOf, leased, never, workItem } from "../../../contract/state-back-end.ts";
import { deadlineMs } from "../../../deadline.ts";
import { type DynamodbFault, faultyDynamodb } from "../../../doubles/faulty-dynamodb.ts";
import type { FaultyWire } from "../../../doubles/faulty-wire.ts";
import { type LaggingDynamodb, laggingDynamodb } from "../../../doubles/lagging-dynamodb.ts";
import type { SeenRequest } from "../../../doubles/seen-request.ts";

const region = "eu-west-1";
const name = "sluice";
const key = keyOf("web");
const owner = { uid: "uid", clusterUid: "cluster" };

let table: LaggingDynamodb;
let wire: FaultyWire;
let faultOf: (request: SeenRequest) => DynamodbFault | undefined;
let processes: Process[];
beforeEach(async () => {
  table = await laggingDynamodb({ lags: false });
  faultOf = () => undefined;
  wire = await faultyDynamodb(table.url, (request) => faultOf(request));
  processes = [];
});
afterEach(async () => {
  for (const { client } of processes) client.destroy();
  await wire[Symbol.asyncDispose]();
  await table[Symbol.asyncDispose]();
});

interface Process extends DynamodbStores {
  readonly client: DynamoDBClient;
  /** Transactions that it began. */
  transactions(): number;
}

/** The stores as one process has them. `beforeTransaction` is awaited before each of its transactions is sent. */
function startProcess({
  beforeTransaction = async (): Promise<void> => undefined,
  now = () => systemClock.now(),
}: {
  beforeTransaction?: () => Promise<void>;
  now?: () => number;
} = {}) {
  const client = dynamodbClient({
    region,
    endpoint: wire.url,
    credentials: { accessKeyId: "x", secretAccessKey: "y" },
    attemptTimeoutMs: deadlineMs,
  });
  let transactions = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        if (commandName === "TransactWriteItemsCommand") {
          transactions += 1;
          await beforeTransaction();
        }
        return next(call);
      },
    { step: "initialize" },
  );
  const stores = openDynamodbStores({ client, name, region, clock: { ...systemClock, now } });
  const process = { ...stores, client, transactions: () => transactions };
  processes.push(process);
  return process;
}

function entries(count: number, version = "v1"): readonly InventoryEntry[] {
  return Array.from({ length: count }, (_, index) => ({ id: `apps_cm-${index}__ConfigMap`, version, state: "live" }));
}

function claim(owned: string): Claim {
  return { id: "x", ownerUid: owned, owner: `Kustomization/apps/${owned}` };
}

dynamodbInventoryContract("DynamoDB that does not lag", () => ({
  region,
  endpoint: table.url,
  credentials: { accessKeyId: "x", secretAccessKey: "y" },
}));

describe("an inventory of many pages", () => {
  test("has each of them in the table, even if a batch is only partly written", async () => {
    const writer = startProcess();
    const fence = await leased(writer, key);
    let batches = 0;
    faultOf = ({ action }) => (action === "BatchWriteItem" && ++batches === 1 ? "leftOver" : undefined);
    await writer.inventories.save(owner, entries(600), fence, never);
    expect(batches).toBeGreaterThan(1);
    expect(await startProcess().inventories.load(owner, fence, never)).toEqual(entries(600));
  });

  test("keeps a page of this lease without a pointer until it is old", async () => {
    let now = 1_800_000_000_000;
    const writer = startProcess({ now: () => now });
    const fence = await leased(writer, key);
    await writer.inventories.save(owner, entries(600), fence, never);
    const pages = async () => {
      const { Items: rows = [] } = await writer.client.send(new ScanCommand({ TableName: name }));
      return rows
        .map((row) => ({ pk: textOf(row, "pk"), sk: textOf(row, "sk") }))
        .filter(({ pk }) => pk.includes("#inv#"));
    };
    const [page = { pk: "", sk: "" }] = await pages();
    const orphan = { pk: page.pk, sk: `${fence.token}-another-try` };
    const Item = { ...rowKeyOf(orphan), at: { N: String(now) }, entries: { B: new Uint8Array() } };
    await writer.client.send(new PutItemCommand({ TableName: name, Item }));
    now += 599_000;
    await writer.inventories.save(owner, entries(600, "v2"), fence, never);
    expect(await pages()).toContainEqual(orphan);
    now += 600_000;
    await writer.inventories.save(owner, entries(600, "v3"), fence, never);
    expect(await pages()).not.toContainEqual(orphan);
    expect(await pages()).not.toContainEqual(page);
  });
});

describe("an inventory pointer", () => {
  test("replaces only the one that was read: if it has changed, it is read again", async () => {
    const [one, other] = [startProcess(), startProcess()];
    // Seen without a lease first, so that what one's own process knows of the pointer is believed.
    await one.items.put(workItem(key), never);
    const fence = await leased(one, key);
    await one.inventories.save(owner, entries(1), fence, never);
    // An earlier write of the same holder that comes late.
    await other.inventories.save(owner, entries(2), fence, never);
    const before = one.transactions();
    await one.inventories.save(owner, entries(3), fence, never);
    expect(one.transactions() - before).toBe(2);
    expect(await startProcess().inventories.load(owner, fence, never)).toEqual(entries(3));
  });

  test("whose swap got no answer is read again", async () => {
    const holder = startProcess();
    await holder.items.put(workItem(key), never);
    const fence = await leased(holder, key);
    await holder.inventories.save(owner, entries(1), fence, never);
    faultOf = ({ action }) => (action === "TransactWriteItems" ? "lost" : undefined);
    await expect(holder.inventories.save(owner, entries(2), fence, never)).rejects.toThrow(
      "it may or may not have happened",
    );
    faultOf = () => undefined;
    expect(await holder.inventories.load(owner, fence, never)).toEqual(entries(2));
  });
});

describe("claims that change between a read and a write", () => {
  test("are not overwritten: only the owner's own claim is released", async () => {
    const [a, b, c] = [startProcess(), startProcess(), startProcess()];
    const fences = { b: await leased(b, keyOf("b")), c: await leased(c, keyOf("c")) };
    let isLate = true;
    const late = startProcess({
      async beforeTransaction() {
        if (!isLate) return;
        isLate = false;
        await c.ledger.claim("cluster", [claim("c")], fences.c, never);
      },
    });
    const fence = await leased(a, keyOf("a"));
    await a.ledger.claim("cluster", [claim("a")], fence, never);
    await b.ledger.claim("cluster", [claim("b")], fences.b, never);
    await late.ledger.release("cluster", "a", ["x"], fence, never);
    expect((await a.ledger.claims("cluster", ["x"], never)).get("x")).toEqual([claim("b"), claim("c")]);
  });

  test("can be added even if the last one is released meanwhile", async () => {
    const other = startProcess();
    const fences = { a: await leased(other, keyOf("a")), b: await leased(other, keyOf("b")) };
    await other.ledger.claim("cluster", [claim("b")], fences.b, never);
    const late = startProcess({
      // The first try finds the other's claim in its way.
      async beforeTransaction() {
        if (late.transactions() === 2) await other.ledger.release("cluster", "b", ["x"], fences.b, never);
      },
    });
    await late.ledger.claim("cluster", [claim("a")], fences.a, never);
    expect((await other.ledger.claims("cluster", ["x"], never)).get("x")).toEqual([claim("a")]);
  });
});

test("the subscriptions of an object are read again after a call that was interrupted between two transactions", async () => {
  const stop = new AbortController();
  const holder = startProcess({
    async beforeTransaction() {
      if (holder.transactions() === 3) stop.abort(new Error("time is up"));
    },
  });
  const [old, wanted] = ["old", "new"].map((kind) => Array.from({ length: 250 }, (_, index) => `${kind}#${index}`));
  await holder.items.put(workItem(key), never);
  const fence = await leased(holder, key);
  await holder.subscriptions.subscribe((old ?? []).slice(0, 1), fence, never);
  await expect(holder.subscriptions.subscribe(wanted ?? [], fence, stop.signal)).rejects.toThrow("time is up");
  expect(await holder.subscriptions.subscribers("new#0", never)).toEqual([key]);
  await holder.subscriptions.subscribe((old ?? []).slice(0, 1), fence, never);
  expect(await holder.subscriptions.subscribers("new#0", never)).toEqual([]);
});
