import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import type { Fence } from "../../core/ports/fence.ts";
import type { Claim, Ledger } from "../../core/ports/ledger.ts";
import { batchGet } from "./read-rows.ts";
import { gaveUp, retryBudget } from "./retry-budget.ts";
import { keyOf, keyPart, type Row, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { fencedWrites, maxFencedWrites } from "./write-rows.ts";

/** The claims in the row of an inventory entry, the owner's first. */
const StoredClaims = z.array(z.strictObject({ ownerUid: z.string(), owner: z.string() }));
type StoredClaims = z.infer<typeof StoredClaims>;

/** The claims on an id after a change; the same list if nothing changes. */
type Change = (id: string, before: StoredClaims) => StoredClaims;

/**
 * One row for each claimed object of a cluster, in a partition of its own. Many claims are made in several transactions, each under
 * the fence: if a holder loses its lease between two of them, its successor makes the claims again.
 */
export function dynamodbLedger(table: StateTable): Ledger {
  return {
    async claim(clusterUid, claims, fence, signal) {
      const byId = Map.groupBy(claims, ({ id }) => id);
      const change: Change = (id, before) => {
        const known = new Set(before.map(({ ownerUid }) => ownerUid));
        const added = (byId.get(id) ?? []).filter(({ ownerUid }) => !known.has(ownerUid) && known.add(ownerUid));
        return added.length === 0 ? before : [...before, ...added.map(({ ownerUid, owner }) => ({ ownerUid, owner }))];
      };
      // Most claims are new: no need to read first.
      await changeClaims(table, clusterUid, [...byId.keys()], new Map(), change, fence, signal);
    },
    async release(clusterUid, ownerUid, ids, fence, signal) {
      const change: Change = (_, before) => {
        const left = before.filter((claim) => claim.ownerUid !== ownerUid);
        return left.length === before.length ? before : left;
      };
      const distinct = [...new Set(ids)];
      const found = await readClaims(table, clusterUid, distinct, signal);
      await changeClaims(table, clusterUid, distinct, found, change, fence, signal);
    },
    async claims(clusterUid, ids, signal) {
      const found = await readClaims(table, clusterUid, [...new Set(ids)], signal);
      const claimed = [...found].map(([id, claims]) => {
        return [id, claims.map(({ ownerUid, owner }): Claim => ({ id, ownerUid, owner }))] as const;
      });
      return new Map(claimed.filter(([, claims]) => claims.length > 0));
    },
  };
}

async function changeClaims(
  table: StateTable,
  clusterUid: string,
  ids: readonly string[],
  found: ReadonlyMap<string, StoredClaims>,
  change: Change,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  // One after the other: concurrent transactions on the same lease cancel each other.
  for (let start = 0; start < ids.length; start += maxFencedWrites) {
    const known = new Map(found);
    const budget = retryBudget(table.clock);
    for (;;) {
      const changed = ids.slice(start, start + maxFencedWrites).flatMap((id) => {
        const before = known.get(id) ?? [];
        const after = change(id, before);
        return after === before ? [] : [{ id, write: claimWrite(table, claimKey(clusterUid, id), before, after) }];
      });
      // Also without a change: a holder that has lost the lease must get the error.
      const writes = changed.map(({ write }) => write);
      const refused = await fencedWrites(table, fence, writes, signal);
      if (refused.length === 0) break;
      for (const { index, found: row } of refused) {
        const id = changed[index]?.id;
        if (id !== undefined) known.set(id, row === undefined ? [] : claimsOf(row));
      }
      if (!(await budget.again(signal)))
        throw gaveUp(table.name, "TransactWriteItems", "others claim the same objects");
    }
  }
}

/** Replaces exactly the claims that were there before. */
function claimWrite(
  { name: TableName }: StateTable,
  key: RowKey,
  before: StoredClaims,
  after: StoredClaims,
): TransactWriteItem {
  const condition =
    before.length === 0
      ? { ConditionExpression: "attribute_not_exists(pk)" }
      : {
          ConditionExpression: "claims = :before",
          ExpressionAttributeValues: { ":before": { S: JSON.stringify(before) } },
        };
  const write = { TableName, ...condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;
  if (after.length === 0) return { Delete: { ...write, Key: keyOf(key) } };
  return { Put: { ...write, Item: { ...keyOf(key), claims: { S: JSON.stringify(after) } } } };
}

async function readClaims(
  table: StateTable,
  clusterUid: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StoredClaims>> {
  const keys = ids.map((id) => claimKey(clusterUid, id));
  const byPartition = new Map((await batchGet(table, keys, signal)).map((row) => [textOf(row, "pk"), claimsOf(row)]));
  return new Map(ids.map((id) => [id, byPartition.get(claimKey(clusterUid, id).pk) ?? []]));
}

function claimsOf(row: Row): StoredClaims {
  return StoredClaims.parse(JSON.parse(textOf(row, "claims")));
}

function claimKey(clusterUid: string, id: string): RowKey {
  return { pk: `own#${keyPart(clusterUid)}/${keyPart(id)}`, sk: "claims" };
}
