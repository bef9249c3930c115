import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { Digest } from "../../core/digest.ts";
import type { ArtifactRecords } from "../../core/ports/artifact-records.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { keyOf, type RowKey } from "./attributes.ts";
import { fencedWrites } from "./fenced-writes.ts";
import { keyPart, objectPartition } from "./row-keys.ts";
import type { StateTable } from "./state-table.ts";

/** Records remembered at most. They are never taken back, so what was once read stays true. */
const maxRemembered = 1_000;

/** One item for each artifact that a source stored. */
export function dynamodbArtifactRecords(table: StateTable): ArtifactRecords {
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
    async recorded(source, sourceUid, digest, signal) {
      const key = recordKey(source, sourceUid, digest);
      const name = `${key.pk} ${key.sk}`;
      if (remembered.has(name)) return true;
      // What an old copy of the table shows is so; what it does not show may be newer than the copy.
      if (!(await read(key, false, signal)) && !(await read(key, true, signal))) return false;
      const [oldest] = remembered;
      if (remembered.size >= maxRemembered && oldest !== undefined) remembered.delete(oldest);
      remembered.add(name);
      return true;
    },
  };
}

function recordKey(source: WorkKey, sourceUid: string, digest: Digest): RowKey {
  return { pk: objectPartition(source), sk: `artifact#${keyPart(sourceUid)}#${digest}` };
}
