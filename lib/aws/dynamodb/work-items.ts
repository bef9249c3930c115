import { randomUUID } from "node:crypto";
import { type AttributeValue, ConditionalCheckFailedException, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { WorkItem, WorkItems } from "../../core/ports/work-items.ts";
import { AwsFault } from "../aws-fault.ts";
import { keyOf, numberOf, type Row } from "./attributes.ts";
import { ownerOfPointer, pointerOf } from "./inventory-pointer.ts";
import { overdueItems } from "./overdue-items.ts";
import { queryRows } from "./query-rows.ts";
import type { Recollection, Sight } from "./recollection.ts";
import { objectPartition, workRowKey, workSortKey } from "./row-keys.ts";
import type { StateTable } from "./state-table.ts";
import { workAttributes, workItemOf } from "./work-row.ts";

/** The item and the pointers of the latest owners; a re-created object leaves its predecessors' behind. */
const maxRows = 4;

/** Work items, each one row. What is read along with one goes into the recollection. */
export function dynamodbWorkItems(table: StateTable, recollection: Recollection): WorkItems {
  return {
    async get(key, signal) {
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :work)",
        ExpressionAttributeValues: { ":pk": { S: objectPartition(key) }, ":work": { S: workSortKey } },
        Limit: maxRows,
      };
      const sight = sightOf(await queryRows(table, query, signal, maxRows));
      recollection.saw(key, sight);
      return sight?.item;
    },
    async put(item, signal) {
      const answer = await store(table, item, signal);
      if (answer === "stored") recollection.stored(item);
      return answer;
    },
    overdue: (now, limit, signal) => overdueItems(table, now, limit, signal),
  };
}

function sightOf(rows: readonly Row[]): Sight | undefined {
  const [row, ...pointers] = rows;
  const item = row === undefined ? undefined : workItemOf(row);
  if (row === undefined || item === undefined) return undefined;
  // Rows of one answer may be of different moments: only a pointer of the generation that the item's row names is the latest.
  const latest = row["inventory"]?.S;
  const pointer = pointers.find((candidate) => candidate["generation"]?.S === latest);
  const owner = pointer && ownerOfPointer(pointer);
  const known = pointer && owner !== undefined ? { owner, pointer: pointerOf(pointer) } : undefined;
  return { item, edges: row["edges"]?.S, inventory: latest === undefined ? "none" : known };
}

async function store(table: StateTable, item: WorkItem, signal: AbortSignal): Promise<"stored" | "conflict"> {
  // Names this very write, so that a try whose answer was lost finds itself.
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
    // Ours may have been stored by an earlier try, and others after it: only they know.
    if (isPast && sends + attempts > 2) throw error;
    return "conflict";
  }
}

/** An update and no put: the row also holds what other writes have marked on it. */
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
