import { describe, expect, test } from "vitest";
import { arrangePages } from "../../../../lib/apply/inventory-pages.ts";
import { ownerName, pointerAttributes, pointerSortKey } from "../../../../lib/aws/dynamodb/inventory-pointer.ts";
import { type DynamodbStores, openDynamodbStores } from "../../../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../../../lib/aws/dynamodb/state-table.ts";
import { workAttributes } from "../../../../lib/aws/dynamodb/work-items.ts";
import { digestOf } from "../../../../lib/core/digest.ts";
import { LeaseLost } from "../../../../lib/core/ports/fence.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";
import type { WorkItem } from "../../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../../lib/core/work-key.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { formatStoredWorkItem } from "../../../../lib/queue/stored-work-item.ts";
import { keyOf, never, overdueItems, workItem } from "../../../contract/state-back-end.ts";
import { deadlineMs } from "../../../deadline.ts";
import { faultyWire, type WireFault } from "../../../doubles/faulty-wire.ts";

const region = "eu-west-1";
const account = "111111111111";
const key = keyOf("web");
const fence = { key, token: 1 };

function says(body: object, status = 200): WireFault {
  return { status, body: JSON.stringify(body), headers: { "content-type": "application/x-amz-json-1.0" } };
}

function refuses(type: string, more: object = {}, status = 400): WireFault {
  return says({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: "said by the test", ...more }, status);
}

/** Asks stores on a table of our layout whose further answers these are, the last one again and again. */
async function asking<Result>(
  answers: readonly WireFault[],
  ask: (stores: DynamodbStores) => Promise<Result>,
): Promise<{ result?: Result; error?: unknown; requests: number }> {
  const layout = says({ Item: { version: { N: "1" } } });
  const fault = (count: number) => (count === 0 ? layout : (answers[count - 1] ?? answers.at(-1) ?? "hang"));
  await using wire = await faultyWire(undefined, (_, count) => fault(count));
  const credentials = { accessKeyId: "x", secretAccessKey: "y" };
  const client = dynamodbClient({ region, endpoint: wire.url, credentials, attemptTimeoutMs: deadlineMs });
  const requests = (): number => wire.seen.length - 1;
  try {
    const stores = openDynamodbStores({ client, name: "sluice", region, account, clock: systemClock });
    const result = await ask(stores);
    return { result, requests: requests() };
  } catch (error) {
    return { error, requests: requests() };
  } finally {
    client.destroy();
  }
}

const get = ({ items }: DynamodbStores) => items.get(key, never);
const put = ({ items }: DynamodbStores) => items.put(workItem(key, { version: 3 }), never);
const record = ({ history }: DynamodbStores) => history.latest(key, 1, never);

describe("a permanent refusal of the table is an error with a mend", () => {
  test.each([
    ["ProvisionedThroughputExceededException", "throttled", "AWS throttles the call, even after several tries", 4],
    ["ThrottlingException", "throttled", "AWS throttles the call, even after several tries", 4],
    ["ExpiredTokenException", "credentials", "the AWS credentials have expired", 1],
    ["UnrecognizedClientException", "credentials", "AWS does not accept the credentials", 1],
    ["ResourceNotFoundException", "missing", "it does not exist in region eu-west-1", 1],
  ])("%s is %s", async (code, reason, words, tries) => {
    const { error, requests } = await asking([refuses(code)], get);
    expect(error).toMatchObject({ reason, message: expect.stringContaining(`dynamodb:Query on table sluice: `) });
    expect(error).toMatchObject({ message: expect.stringContaining(words) });
    expect(requests).toBe(tries);
  });

  test("credentials of another account are named with both accounts", async () => {
    const message = "User: arn:aws:sts::222222222222:assumed-role/reconcile is not authorized";
    const { error } = await asking([refuses("AccessDeniedException", { message })], get);
    const words = `the credentials are of account 222222222222, it is of account ${account}`;
    expect(error).toMatchObject({ reason: "denied", message: expect.stringContaining(words) });
  });

  test.each(["The table does not have the specified index: due", "The provided key element does not match the schema"])(
    "a table with other keys or without the index has another layout: %s",
    async (message) => {
      const { error } = await asking([refuses("ValidationException", { message })], record);
      expect(error).toMatchObject({
        name: "LayoutError",
        message: expect.stringContaining("run the release of Sluice that wrote it"),
      });
    },
  );
});

describe("a write whose result is unknown", () => {
  const taken = (version: number) =>
    refuses("ConditionalCheckFailedException", { Item: { version: { N: `${version}` } } });

  test("a refused condition at the first attempt is a conflict", async () => {
    expect(await asking([taken(5)], put)).toEqual({ result: "conflict", requests: 1 });
  });

  test("a later version found at a second attempt is not a conflict: the first attempt may have been stored before", async () => {
    const { error } = await asking([refuses("InternalServerError", {}, 500), taken(5)], put);
    expect(error).toMatchObject({ name: "AwsFault" });
  });

  test("the same version by another writer is a conflict at any attempt", async () => {
    const { result } = await asking([refuses("InternalServerError", {}, 500), taken(3)], put);
    expect(result).toBe("conflict");
  });
});

describe("a transaction", () => {
  const cancelled = (...codes: string[]) =>
    refuses("TransactionCanceledException", { CancellationReasons: codes.map((Code) => ({ Code })) });
  const remember = ({ records }: DynamodbStores) => records.record(key, "uid", digest, fence, never);
  const digest = digestOf("artifact");

  test.each(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])(
    "that conflicts with another one or is throttled is retried: %s",
    async (code) => {
      const { error, requests } = await asking([cancelled(code, "None"), says({})], remember);
      expect(error).toBeUndefined();
      expect(requests).toBe(2);
    },
  );

  test("that keeps conflicting is given up as throttled", async () => {
    const { error } = await asking([cancelled("TransactionConflict", "None")], remember);
    expect(error).toMatchObject({
      reason: "throttled",
      message: expect.stringContaining("others write the same items"),
    });
  });

  test("whose check of the lease fails is a lost lease", async () => {
    const { error, requests } = await asking([cancelled("ConditionalCheckFailed", "None")], remember);
    expect(error).toBeInstanceOf(LeaseLost);
    expect(requests).toBe(1);
  });

  test("that is still in progress is queried again", async () => {
    const { error } = await asking([refuses("TransactionInProgressException"), says({})], remember);
    expect(error).toBeUndefined();
  });
});

test("a query is read to its last page, also past an empty one", async () => {
  const from = { pk: { S: "edge#src#a" }, sk: { S: "x" } };
  const [first, second] = [keyOf("a"), keyOf("b")].map((listener) => ({ key: { S: formatWorkKey(listener) } }));
  const pages = [
    says({ Items: [first], LastEvaluatedKey: from }),
    says({ Items: [], LastEvaluatedKey: from }),
    says({ Items: [second] }),
  ];
  const { result = [] } = await asking(pages, ({ subscriptions }) => subscriptions.subscribers("src#a", never));
  expect(result.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("a batch that always leaves rows unprocessed is given up as throttled", async () => {
  const left = { sluice: { Keys: [{ pk: { S: "own#cluster/x" }, sk: { S: "claims" } }] } };
  const answer = says({ Responses: {}, UnprocessedKeys: left });
  const { error, requests } = await asking([answer], ({ ledger }) => ledger.claims("cluster", ["x"], never));
  expect(error).toMatchObject({ reason: "throttled", message: expect.stringContaining("keys were left over") });
  expect(requests).toBe(8);
});

test("a call ends as soon as its signal is aborted, with the signal's reason", async () => {
  const control = new AbortController();
  const asked = asking(["hang"], ({ items }) => {
    const answer = items.get(key, control.signal);
    setImmediate(() => control.abort(new Error("time is up")));
    return answer;
  });
  expect((await asked).error).toEqual(new Error("time is up"));
});

test("a pointer of another save than the one in the work item is not used: the inventory is read again", async () => {
  const owner = { uid: "uid", clusterUid: "cluster" };
  const entry = (id: string): InventoryEntry => ({ id, version: "v1", state: "live" });
  const pointer = (generation: string) => {
    const texts = arrangePages([entry(generation)], []);
    const { content, ...rest } = pointerAttributes({ generation, content: { kind: "inline", texts } });
    return {
      pk: { S: `obj#${formatWorkKey(key)}` },
      sk: { S: pointerSortKey(ownerName(owner)) },
      ...rest,
      content: { B: Buffer.from(content?.B ?? []).toString("base64") },
    };
  };
  const { holder: _, ...free } = workAttributes(workItem(key));
  const work = { pk: { S: `obj#${formatWorkKey(key)}` }, sk: { S: "work" }, ...free, inventory: { S: "1-new" } };
  const answers = [
    says({ Items: [work, pointer("1-old")] }),
    says({}),
    says({ Responses: { sluice: [pointer("1-new")] } }),
  ];
  const { result, requests } = await asking(answers, async ({ items, inventories }) => {
    await items.get(key, never);
    await items.put(workItem(key, { version: 2, token: 1, lease: { holder: "h", renewals: 0 } }), never);
    return inventories.load(owner, fence, never);
  });
  expect(result).toEqual([entry("1-new")]);
  expect(requests).toBe(3);
});

/** The table's answers to one look at the index that shows these rows: eight shards, then the rows themselves. */
const look = (rows: readonly object[]): readonly WireFault[] => [
  says({ Items: rows }),
  ...Array.from({ length: 7 }, () => says({ Items: [] })),
  ...Array.from({ length: Math.ceil(rows.length / 100) }, (_, batch) =>
    says({ Responses: { sluice: rows.slice(batch * 100, batch * 100 + 100) } }),
  ),
];

describe("rows of another release", () => {
  const rowOf = (name: string, item: string) => ({
    pk: { S: formatWorkKey(keyOf(name)) },
    sk: { S: "work" },
    item: { S: item },
    overdue: { N: "0" },
  });
  const web = rowOf("web", formatStoredWorkItem(workItem(keyOf("web"), { dueAt: 5 })));
  const odd = (index: number) => rowOf(`odd-${index}`, JSON.stringify({ key: "of", shape: "another" }));
  const overdue = ({ items }: DynamodbStores) => overdueItems(items, 10);

  test("that cannot be read are named by their key, and stay overdue", async () => {
    const { result } = await asking(look([odd(1), web]), overdue);
    expect(result?.items.map((item) => item.key)).toEqual([keyOf("web")]);
    expect(result?.unreadable.map(({ row }) => row)).toEqual([formatWorkKey(keyOf("odd-1"))]);
  });

  test("do not hide later due items, however many there are", async () => {
    const odds = Array.from({ length: 201 }, (_, index) => odd(index));
    const { result, requests } = await asking(look([...odds, web]), overdue);
    expect(result?.items.map((item) => item.key)).toEqual([keyOf("web")]);
    expect(result?.unreadable).toHaveLength(201);
    expect(requests).toBe(11);
  });
});

test("items in progress do not hide overdue ones after them in the index", async () => {
  const rowOf = (name: string, fields: Partial<WorkItem>) => ({
    pk: { S: formatWorkKey(keyOf(name)) },
    sk: { S: "work" },
    item: { S: formatStoredWorkItem(workItem(keyOf(name), fields)) },
    overdue: { N: "0" },
  });
  const underWay = Array.from({ length: 201 }, (_, index) => rowOf(`busy-${index}`, { wakeUntil: 60_000 }));
  const web = rowOf("web", { dueAt: 5 });
  const { result } = await asking(look([...underWay, web]), ({ items }) => overdueItems(items, 10));
  expect(result?.items.map((item) => item.key)).toEqual([keyOf("web")]);
});

test("ten items of an excluded cluster are skipped by the index's keys alone", async () => {
  const dead = Array.from({ length: 10 }, (_, index) => ({
    pk: {
      S: `obj#${formatWorkKey({ ...keyOf(`o${index}`), cluster: "arn:aws:eks:eu-west-1:123456789012:cluster/dead" })}`,
    },
    sk: { S: "work" },
    overdue: { N: "0" },
  }));
  const answers = [says({ Items: dead }), ...Array.from({ length: 7 }, () => says({ Items: [] }))];
  const { result, requests } = await asking(answers, ({ items }) => overdueItems(items, 10, (of) => of === "home"));
  expect(result).toEqual({ items: [], unreadable: [] });
  expect(requests).toBe(8);
});

test("at most 300 rows of the current minute are read, and all of those before it", async () => {
  const rows = (count: number, overdue: number) =>
    Array.from({ length: count }, (_, index) => ({
      pk: { S: `obj#${formatWorkKey(keyOf(`o${overdue}-${index}`))}` },
      sk: { S: "work" },
      overdue: { N: String(overdue) },
    }));
  const shown = [...rows(500, 60_000), ...rows(950, 120_000)];
  const answers = [says({ Items: shown }), ...Array.from({ length: 7 }, () => says({ Items: [] }))];
  const reads = Array.from({ length: 8 }, () => says({ Responses: { sluice: [] } }));
  const { requests } = await asking([...answers, ...reads], ({ items }) => overdueItems(items, 150_000));
  expect(requests).toBe(8 + 8);
});
