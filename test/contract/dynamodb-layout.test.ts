import { randomUUID } from "node:crypto";
import { DeleteTableCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { createStateTable } from "../../lib/aws/dynamodb/create-state-table.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { type LayoutPlace, layoutContract } from "./layout.ts";
import { realAws } from "./real-aws.ts";
import { keyOf, never } from "./state-back-end.ts";

const connection = realAws("DYNAMODB");

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };

  async function open(): Promise<LayoutPlace> {
    const name = `sluice-${randomUUID()}`;
    const client = dynamodbClient(of);
    await createStateTable(client, name, never);
    return {
      async start(version, upgrade, item) {
        const upgrades = Object.fromEntries(
          Array.from({ length: version }, (_, from) => [from, () => upgrade(from)] as const),
        );
        const layout = { version, upgrades };
        const { items } = openDynamodbStores({ client, name, region: of.region, clock: systemClock, layout });
        if (item !== undefined) await items.put(item, never);
        return items.get(keyOf("web"), never);
      },
      async stored() {
        const { Items: rows = [] } = await client.send(new ScanCommand({ TableName: name, ConsistentRead: true }));
        return rows
          .map((row) => JSON.stringify(row))
          .toSorted()
          .join("\n");
      },
      async close() {
        await client.send(new DeleteTableCommand({ TableName: name }));
        client.destroy();
      },
    };
  }

  layoutContract("a table", open);

  test("two processes of a newer release that start at the same moment both continue", async () => {
    const place = await open();
    await place.start(1, async () => {});
    const started: number[] = [];
    const both = [1, 2].map(() => place.start(3, async (from) => void started.push(from)));
    expect(await Promise.all(both)).toEqual([undefined, undefined]);
    expect(new Set(started)).toEqual(new Set([1, 2]));
    expect(await place.stored()).toContain('"version":{"N":"3"}');
    await place.close();
  });
});
