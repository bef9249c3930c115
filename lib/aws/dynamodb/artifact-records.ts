import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { Digest } from "../../core/digest.ts";
import type { ArtifactRecords, RecordedArtifacts } from "../../core/ports/artifact-records.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { queryRows, scanPages } from "./read-rows.ts";
import { keyOf, keyPart, objectPartition, objectPrefix, type RowKey, textOf } from "./rows.ts";
import type { StateTable } from "./state-table.ts";
import { fencedWrites, maxFencedWrites } from "./write-rows.ts";

/** The most records in the cache. A record that was once read stays true, even if it is removed later. */
const maxRemembered = 1_000;
const prefix = "artifact#";

/** One row for each artifact that a source stored. */
export function dynamodbArtifactRecords(table: StateTable): ArtifactRecords & RecordedArtifacts {
  const remembered = new Set<string>();

  const read = async (key: RowKey, isConsistent: boolean, signal: AbortSignal): Promise<boolean> => {
    const command = new GetItemCommand({ TableName: table.name, Key: keyOf(key), ConsistentRead: isConsistent });
    const { Item: item } = await table.call("GetItem", (client, options) => client.send(command, options), signal);
    return item !== undefined;
  };

  return {
    async record(source, sourceUid, digest, fence, signal) {
      const item = keyOf(recordKey(source, sourceUid, digest));
      await fencedWrites(table, fence, [{ Put: { TableName: table.name, Item: item } }], signal);
    },
    async retain(source, sourceUid, digests, fence, signal) {
      const kept = new Set(digests.map((digest) => recordKey(source, sourceUid, digest).sk));
      const query = {
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: { ":pk": { S: objectPartition(source) }, ":prefix": { S: prefix } },
      };
      const found = (await queryRows(table, query, signal)).map((row) => ({
        pk: textOf(row, "pk"),
        sk: textOf(row, "sk"),
      }));
      const left = found.filter(({ sk }) => !kept.has(sk));
      for (let at = 0; at < left.length; at += maxFencedWrites) {
        const keys = left.slice(at, at + maxFencedWrites);
        const deletes = keys.map((key) => ({ Delete: { TableName: table.name, Key: keyOf(key) } }));
        await fencedWrites(table, fence, deletes, signal);
        for (const key of keys) remembered.delete(nameOf(key));
      }
    },
    async digests(signal) {
      const scan = {
        ConsistentRead: true,
        FilterExpression: "begins_with(pk, :objects) AND begins_with(sk, :prefix)",
        ProjectionExpression: "sk",
        ExpressionAttributeValues: { ":objects": { S: objectPrefix }, ":prefix": { S: prefix } },
      };
      const digests = new Set<Digest>();
      for await (const page of scanPages(table, scan, signal)) {
        for (const row of page) digests.add(digestIn(textOf(row, "sk")));
      }
      return digests;
    },
    async recorded(source, sourceUid, digest, signal) {
      const key = recordKey(source, sourceUid, digest);
      const name = nameOf(key);
      if (remembered.has(name)) return true;
      // A record in an old copy of the table is true; a missing one may be newer than the copy.
      if (!(await read(key, false, signal)) && !(await read(key, true, signal))) return false;
      const [oldest] = remembered;
      if (remembered.size >= maxRemembered && oldest !== undefined) remembered.delete(oldest);
      remembered.add(name);
      return true;
    },
  };
}

function nameOf({ pk, sk }: RowKey): string {
  return `${pk} ${sk}`;
}

function recordKey(source: WorkKey, sourceUid: string, digest: Digest): RowKey {
  return { pk: objectPartition(source), sk: `${prefix}${keyPart(sourceUid)}#${digest}` };
}

/** The digest in the sort key that {@link recordKey} makes. Throws for another one: a digest that is not understood might be named. */
function digestIn(sk: string): Digest {
  return Digest.parse(sk.slice(sk.lastIndexOf("#") + 1));
}
