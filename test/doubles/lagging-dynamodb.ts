import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { z } from "zod";
import { closeServer } from "./close-server.ts";
import { expressionHolds, type Names, type Row, updatedBy, type Values } from "./dynamodb-expressions.ts";
import { portOnLoopback } from "./port-on-loopback.ts";
import { seenRequest } from "./seen-request.ts";

/**
 * The part of DynamoDB that our adapter uses, as stale as DynamoDB may be: a read that is not consistent finds each item as it
 * was before its last write, or finds it gone. DynamoDB Local is always consistent, so it cannot show a read that should have been
 * consistent. The index is up to date: the adapter reads the items after it.
 */
export interface LaggingDynamodb extends AsyncDisposable {
  readonly url: string;
}

const NameMap = z.record(z.string(), z.string()).default({});
const ValueMap = z.record(z.string(), z.record(z.string(), z.unknown())).default({});
const AnyRow = z.record(z.string(), z.record(z.string(), z.unknown()));
const expressions = { ExpressionAttributeNames: NameMap, ExpressionAttributeValues: ValueMap };

const Table = z.looseObject({ TableName: z.string() });
const Conditional = z.object({
  ...expressions,
  TableName: z.string(),
  ConditionExpression: z.string().optional(),
  ReturnValuesOnConditionCheckFailure: z.literal("ALL_OLD").optional(),
});
const Put = z.object({ ...Conditional.shape, Item: AnyRow });
const Delete = z.object({ ...Conditional.shape, Key: AnyRow });
const Update = z.object({ ...Conditional.shape, Key: AnyRow, UpdateExpression: z.string() });
const Transaction = z.object({
  ClientRequestToken: z.string(),
  TransactItems: z
    .array(
      z.strictObject({
        Put: Put.optional(),
        Delete: Delete.optional(),
        Update: Update.optional(),
        ConditionCheck: Delete.optional(),
      }),
    )
    .max(100),
});
const Get = z.object({ TableName: z.string(), Key: AnyRow, ConsistentRead: z.boolean().default(false) });
const Gets = z.object({ Keys: z.array(AnyRow).max(100), ConsistentRead: z.boolean().default(false) });
const BatchGet = z.object({ RequestItems: z.record(z.string(), Gets) });
const BatchWrite = z.object({
  RequestItems: z.record(
    z.string(),
    z
      .array(
        z.strictObject({
          PutRequest: z.object({ Item: AnyRow }).optional(),
          DeleteRequest: z.object({ Key: AnyRow }).optional(),
        }),
      )
      .max(25),
  ),
});
const Query = z.object({
  ...expressions,
  TableName: z.string(),
  IndexName: z.string().optional(),
  KeyConditionExpression: z.string(),
  ConsistentRead: z.boolean().default(false),
  ScanIndexForward: z.boolean().default(true),
  Limit: z.number().default(1_000),
  ExclusiveStartKey: AnyRow.optional(),
});
const Scan = z.object({
  ...expressions,
  TableName: z.string(),
  FilterExpression: z.string().optional(),
  ConsistentRead: z.boolean().default(false),
  ExclusiveStartKey: AnyRow.optional(),
});
/** DynamoDB's is 1 MB. It filters a page after it has read it. */
const rowsOfPage = 100;

/** An item and its state before its last write. */
interface Kept {
  readonly now: Row | undefined;
  readonly before: Row | undefined;
}

/** The effect of one write on an item, if its condition holds. */
interface Write {
  readonly name: string;
  readonly condition: z.infer<typeof Conditional>;
  readonly change: (found: Row | undefined) => Row | undefined;
}

class Refused extends Error {
  readonly type: string;
  readonly more: object;

  constructor(type: string, message: string, more: object = {}) {
    super(message);
    this.type = type;
    this.more = more;
  }
}

/** `lags`: false for a table whose reads are always consistent, as DynamoDB's mostly are. */
export async function laggingDynamodb({ lags = true } = {}): Promise<LaggingDynamodb> {
  const tables = newTables(lags);
  const server = createServer((request, response) => void answer(request, response, tables));
  const port = await portOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

type Tables = ReturnType<typeof newTables>;

/** Items of all tables, by the names that {@link nameOf} gives them. */
function newTables(lags: boolean) {
  const kept = new Map<string, Kept>();
  const done = new Set<string>();
  const find = (name: string, isConsistent: boolean): Row | undefined => {
    const found = kept.get(name);
    return isConsistent || !lags ? found?.now : found?.before;
  };
  const holds = ({ name, condition }: Write): boolean => {
    const { ConditionExpression: text, ExpressionAttributeNames: names, ExpressionAttributeValues: values } = condition;
    return text === undefined || expressionHolds(text, names, values, find(name, true));
  };
  const make = ({ name, change }: Write): void => {
    const before = find(name, true);
    const now = change(before);
    kept.set(name, { before: now === undefined ? undefined : before, now });
  };
  const old = ({ name, condition }: Write): object => {
    const found = find(name, true);
    return condition.ReturnValuesOnConditionCheckFailure === undefined || found === undefined ? {} : { Item: found };
  };
  return {
    find,
    drop(table: string): void {
      for (const name of kept.keys()) if (name.startsWith(`${table} `)) kept.delete(name);
    },
    /** The items of a table that a read finds, consistent or not. */
    seen: (table: string, isConsistent: boolean) =>
      [...kept.keys()].flatMap((name) => {
        if (!name.startsWith(`${table} `)) return [];
        const found = find(name, isConsistent);
        return found === undefined ? [] : [found];
      }),
    write(write: Write): void {
      if (!holds(write))
        throw new Refused("ConditionalCheckFailedException", "The conditional request failed", old(write));
      make(write);
    },
    /** A transaction whose answer was lost is sent again with the same token. */
    transact(token: string, writes: readonly Write[]): void {
      if (done.has(token)) return;
      if (new Set(writes.map(({ name }) => name)).size < writes.length) {
        throw new Refused("ValidationException", "Transaction request cannot include multiple operations on one item");
      }
      const reasons = writes.map((write) =>
        holds(write) ? { Code: "None" } : { Code: "ConditionalCheckFailed", ...old(write) },
      );
      if (reasons.some(({ Code: code }) => code !== "None")) {
        throw new Refused("TransactionCanceledException", "Transaction cancelled", { CancellationReasons: reasons });
      }
      for (const write of writes) make(write);
      done.add(token);
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, tables: Tables): Promise<void> {
  const headers = { "content-type": "application/x-amz-json-1.0" };
  try {
    const body = JSON.stringify(perform(seenRequest(request).action, await json(request), tables));
    response.writeHead(200, headers).end(body);
  } catch (error) {
    const { type, more } = error instanceof Refused ? error : { type: "ValidationException", more: {} };
    const message = error instanceof Error ? error.message : "";
    const said = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more };
    response.writeHead(400, headers).end(JSON.stringify(said));
  }
}

function perform(action: string, asked: unknown, tables: Tables): object {
  switch (action) {
    case "CreateTable":
    case "UpdateTimeToLive":
      return {};
    case "DescribeTable":
      return { Table: { TableStatus: "ACTIVE" } };
    case "DeleteTable":
      tables.drop(Table.parse(asked).TableName);
      return {};
    case "Scan":
      return scan(Scan.parse(asked), tables);
    case "GetItem": {
      const { TableName: table, Key: key, ConsistentRead: isConsistent } = Get.parse(asked);
      const found = tables.find(nameOf(table, key), isConsistent);
      return found === undefined ? {} : { Item: found };
    }
    case "BatchGetItem": {
      const found = Object.entries(BatchGet.parse(asked).RequestItems).map(
        ([of, { Keys: keys, ConsistentRead: is }]) => {
          return [of, keys.flatMap((key) => tables.find(nameOf(of, key), is) ?? [])];
        },
      );
      return { Responses: Object.fromEntries(found), UnprocessedKeys: {} };
    }
    case "Query":
      return query(Query.parse(asked), tables);
    case "PutItem":
      tables.write(putOf(Put.parse(asked)));
      return {};
    case "UpdateItem":
      tables.write(updateOf(Update.parse(asked)));
      return {};
    case "DeleteItem":
      tables.write(deleteOf(Delete.parse(asked)));
      return {};
    case "BatchWriteItem": {
      for (const [TableName, writes] of Object.entries(BatchWrite.parse(asked).RequestItems)) {
        for (const { PutRequest: put, DeleteRequest: removed } of writes) {
          if (put !== undefined) tables.write(putOf(Put.parse({ ...put, TableName })));
          if (removed !== undefined) tables.write(deleteOf(Delete.parse({ ...removed, TableName })));
        }
      }
      return { UnprocessedItems: {} };
    }
    case "TransactWriteItems": {
      const { ClientRequestToken: token, TransactItems: items } = Transaction.parse(asked);
      const writes = items.map(({ Put: put, Delete: removed, Update: update, ConditionCheck: check }): Write => {
        if (put !== undefined) return putOf(put);
        if (removed !== undefined) return deleteOf(removed);
        if (update !== undefined) return updateOf(update);
        if (check === undefined) throw new Error("a part of a transaction that does nothing");
        return { name: nameOf(check.TableName, check.Key), condition: check, change: (found) => found };
      });
      tables.transact(token, writes);
      return {};
    }
    default:
      throw new Refused("UnknownOperationException", `the double has no ${action}`);
  }
}

function scan(asked: z.infer<typeof Scan>, tables: Tables): object {
  const { TableName: table, FilterExpression: filter, ExclusiveStartKey: from } = asked;
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = asked;
  const found = tables.seen(table, asked.ConsistentRead);
  const start = from === undefined ? 0 : found.findIndex((row) => nameOf(table, row) === nameOf(table, from)) + 1;
  const page = found.slice(start, start + rowsOfPage);
  const last = page.at(-1);
  const isMore = last !== undefined && start + rowsOfPage < found.length;
  return {
    Items: page.filter((row) => filter === undefined || expressionHolds(filter, names, values, row)),
    ...(isMore ? { LastEvaluatedKey: { pk: last["pk"], sk: last["sk"] } } : {}),
  };
}

function query(asked: z.infer<typeof Query>, tables: Tables): object {
  const {
    TableName: table,
    IndexName: index,
    KeyConditionExpression: text,
    Limit: limit,
    ExclusiveStartKey: from,
  } = asked;
  if (index !== undefined && asked.ConsistentRead) {
    throw new Error("Consistent reads are not supported on global secondary indexes");
  }
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = asked;
  const order = index === undefined ? (row: Row) => textOf(row, "sk") : (row: Row) => Number(row["overdue"]?.["N"]);
  const found = tables
    .seen(table, asked.ConsistentRead || index !== undefined)
    .filter((row) => expressionHolds(text, names, values, row))
    .toSorted((a, b) => {
      const [left, right] = [order(a), order(b)];
      return (left < right ? -1 : left > right ? 1 : 0) * (asked.ScanIndexForward ? 1 : -1);
    });
  const start = from === undefined ? 0 : found.findIndex((row) => nameOf(table, row) === nameOf(table, from)) + 1;
  const page = found.slice(start, start + limit);
  const last = page.at(-1);
  const isMore = last !== undefined && start + limit < found.length;
  return { Items: page, ...(isMore ? { LastEvaluatedKey: { pk: last["pk"], sk: last["sk"] } } : {}) };
}

function putOf(put: z.infer<typeof Put>): Write {
  return { name: nameOf(put.TableName, put.Item), condition: put, change: () => put.Item };
}

function deleteOf(removed: z.infer<typeof Delete>): Write {
  return { name: nameOf(removed.TableName, removed.Key), condition: removed, change: () => undefined };
}

function updateOf(update: z.infer<typeof Update>): Write {
  const { Key: key, UpdateExpression: text } = update;
  const names: Names = update.ExpressionAttributeNames;
  const values: Values = update.ExpressionAttributeValues;
  return {
    name: nameOf(update.TableName, key),
    condition: update,
    change: (found) => updatedBy(text, names, values, found ?? key),
  };
}

function nameOf(table: string, row: Row): string {
  return `${table} ${JSON.stringify([textOf(row, "pk"), textOf(row, "sk")])}`;
}

function textOf(row: Row, attribute: string): string {
  return z.string().parse(row[attribute]?.["S"]);
}
