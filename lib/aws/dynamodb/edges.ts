import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import { digestOf } from "../../core/digest.ts";
import type { Edges } from "../../core/ports/edges.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../../core/work-key.ts";
import { bytesOf, keyOf, numberOf, type Row, textOf } from "./attributes.ts";
import { batchGet } from "./batch-get.ts";
import { fencedWrites, maxFencedWrites } from "./fenced-writes.ts";
import { gaveUp } from "./gave-up.ts";
import { pack, unpack } from "./pack.ts";
import { queryRows } from "./query-rows.ts";
import type { Recollection } from "./recollection.ts";
import { retryBudget } from "./retry-budget.ts";
import { keyPart, objectPartition } from "./row-keys.ts";
import type { StateTable } from "./state-table.ts";

/** Edges that change in one transaction, beside the object's own list of them. */
const maxChanges = maxFencedWrites - 1;

interface Listening {
  /** 0 where the object listens to nothing yet. */
  readonly version: number;
  /** As parts of keys, in order. */
  readonly whats: readonly string[];
}

const Whats = z.array(z.string());

/**
 * One item for each pair of who listens and to what, and one with the object's own list, changed in the same transaction. A
 * digest of the list is marked on the row of the work item, which every run reads anyway, and where the lease is looked at.
 */
export function dynamodbEdges(table: StateTable, recollection: Recollection): Edges {
  return {
    async listen(whats, fence, signal) {
      const { key } = fence;
      const after = [...new Set(whats.map(keyPart))].toSorted();
      // Nearly every run listens to what it listened to before.
      if (recollection.edgesOf(key) === edgesDigest(after)) return;
      // A call that ends between two transactions leaves another list.
      recollection.sawEdges(key, undefined);
      const budget = retryBudget(table.clock);
      for (;;) {
        const before = await readListening(table, key, signal);
        const next = oneStep(before, after);
        if (next === undefined) break;
        const mark = { attribute: "edges", value: edgesDigest(next) };
        const refused = await fencedWrites(table, fence, changes(table, key, before, next), signal, mark);
        // A try of this run's own that is not over: read again.
        if (refused.length > 0 && !(await budget.again(signal))) {
          throw gaveUp(table.name, "TransactWriteItems", `others change what ${formatWorkKey(key)} listens to`);
        }
      }
      recollection.sawEdges(key, edgesDigest(after));
    },
    async listeners(what, signal) {
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: edgePartition(keyPart(what)) } },
      };
      const rows = await queryRows(table, query, signal);
      return rows
        .map((row) => textOf(row, "key"))
        .toSorted()
        .map(parseWorkKey);
    },
  };
}

/** The list that one transaction can lead to on the way to `after`, undefined at its end. Adds before it removes. */
function oneStep({ whats }: Listening, after: readonly string[]): readonly string[] | undefined {
  const [before, wanted] = [new Set(whats), new Set(after)];
  const added = after.filter((what) => !before.has(what)).slice(0, maxChanges);
  const removed = new Set(whats.filter((what) => !wanted.has(what)).slice(0, maxChanges - added.length));
  if (added.length + removed.size === 0) return undefined;
  return [...whats.filter((what) => !removed.has(what)), ...added].toSorted();
}

function changes(
  { name: TableName }: StateTable,
  key: WorkKey,
  { version, whats }: Listening,
  next: readonly string[],
): readonly TransactWriteItem[] {
  const [before, after] = [new Set(whats), new Set(next)];
  const text = formatWorkKey(key);
  const edge = (what: string) => keyOf({ pk: edgePartition(what), sk: keyPart(text) });
  const own: Row = {
    ...keyOf(listRowKey(key)),
    version: { N: String(version + 1) },
    whats: { B: pack(JSON.stringify(next)) },
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
    ...next
      .filter((what) => !before.has(what))
      .map((what) => ({ Put: { TableName, Item: { ...edge(what), key: { S: text } } } })),
    ...whats.filter((what) => !after.has(what)).map((what) => ({ Delete: { TableName, Key: edge(what) } })),
  ];
}

async function readListening(table: StateTable, key: WorkKey, signal: AbortSignal): Promise<Listening> {
  const [row] = await batchGet(table, [listRowKey(key)], signal);
  if (row === undefined) return { version: 0, whats: [] };
  return { version: numberOf(row, "version"), whats: Whats.parse(JSON.parse(unpack(bytesOf(row, "whats")))) };
}

function listRowKey(key: WorkKey): { pk: string; sk: string } {
  return { pk: objectPartition(key), sk: "edges" };
}

/** @param what as a part of a key */
function edgePartition(what: string): string {
  return `edge#${what}`;
}

/** Of whats in their order. Short: it makes the row of the work item longer. */
function edgesDigest(whats: readonly string[]): string {
  return digestOf(JSON.stringify(whats)).slice("sha256:".length, "sha256:".length + 32);
}
