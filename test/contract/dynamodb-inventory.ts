import { randomUUID } from "node:crypto";
import { type AttributeValue, DeleteItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { keyOf as rowKeyOf, textOf } from "../../lib/aws/dynamodb/rows.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import { messageOf } from "../../lib/core/failure.ts";
import type { Fence } from "../../lib/core/ports/fence.ts";
import type { InventoryEntry, InventoryStore } from "../../lib/core/ports/inventory-store.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { keyOf, leased, never } from "./state-back-end.ts";

const key = keyOf("web");
const owner = { uid: "uid", clusterUid: "cluster" };
/** Of many pages. */
const many = 600;
/** Few enough to need no page. */
const few = 20;

function entries(count: number): readonly InventoryEntry[] {
  return Array.from({ length: count }, () => ({ id: `apps_${randomUUID()}__Service`, version: "v1", state: "live" }));
}

/** As the command line of AWS takes it. */
const Key = z.record(z.string(), z.strictObject({ S: z.string() }));

interface Change {
  readonly what: string;
  /** For longer than a page counts as young. */
  readonly stallsMs: number;
  readonly make: (inventories: InventoryStore, before: readonly InventoryEntry[], fence: Fence) => Promise<void>;
}

const changes: readonly Change[] = [
  {
    what: "shrunk its inventory",
    stallsMs: 60_000,
    make: (inventories, before, fence) => inventories.save(owner, before.slice(0, few), fence, never),
  },
  {
    what: "changed its inventory",
    stallsMs: 700_000,
    make: (inventories, before, fence) => inventories.save(owner, before.slice(1), fence, never),
  },
  {
    what: "removed its inventory",
    stallsMs: 60_000,
    make: (inventories, _, fence) => inventories.remove(owner, fence, never),
  },
];

/** What becomes of the pages of an inventory where holders stall and pages are lost. */
export function dynamodbInventoryContract(name: string, connect: () => AwsConnection): void {
  describe(`pages of an inventory: ${name}`, () => {
    test.each(changes)(
      "a holder that has $what and stalls before it cleans up deletes no page of its successor",
      async ({ make, stallsMs }) => {
        const state = await newDynamodb(connect());
        const fence = await leased(state, key);
        const before = entries(many);
        await state.inventories.save(owner, before, fence, never);

        let now = Date.now();
        const late = stallingAtSwap(state.name, () => now);
        const changed = make(late.inventories, before, fence);
        await late.stalled;
        const successor = await leased(state, key);
        const after = entries(many);
        await state.inventories.save(owner, after, successor, never);
        now += stallsMs;
        late.wake();
        await changed;

        // As a process that has none of these pages in memory.
        const { inventories } = openDynamodbStores({ ...state, region: connect().region, clock: systemClock });
        expect(await inventories.load(owner, successor, never)).toEqual(after);
        late.close();
        await state.close();
      },
    );

    test("an inventory with missing pages is not read as empty, and can be saved again after following the mend in the error", async () => {
      const state = await newDynamodb(connect());
      const fence = await leased(state, key);
      await state.inventories.save(owner, entries(many), fence, never);
      const { Items: rows = [] } = await state.client.send(
        new ScanCommand({ TableName: state.name, ConsistentRead: true }),
      );
      const pages = rows.map((row) => ({ pk: textOf(row, "pk"), sk: textOf(row, "sk") }));
      for (const page of pages.filter(({ pk }) => pk.includes("#inv#"))) await remove(state, rowKeyOf(page));

      const { inventories } = openDynamodbStores({ ...state, region: connect().region, clock: systemClock });
      const said = await inventories.load(owner, fence, never).catch((error: unknown) => error);
      expect(messageOf(said)).toContain(`missing from table ${state.name}`);
      await expect(inventories.save(owner, entries(few), fence, never)).rejects.toThrow("delete its item {");

      await remove(state, Key.parse(JSON.parse(/delete its item (.*\}\})/.exec(messageOf(said))?.[1] ?? "")));
      expect(await inventories.load(owner, fence, never)).toBeUndefined();
      const after = entries(many);
      await inventories.save(owner, after, fence, never);
      expect(await inventories.load(owner, fence, never)).toEqual(after);
      await state.close();
    });

    async function remove(
      { client, name }: Awaited<ReturnType<typeof newDynamodb>>,
      row: Record<string, AttributeValue>,
    ) {
      await client.send(new DeleteItemCommand({ TableName: name, Key: row }));
    }

    /** A process that hears of its first change of a pointer only once it is woken. */
    function stallingAtSwap(name: string, now: () => number) {
      const client = dynamodbClient(connect());
      const [stalled, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      client.middlewareStack.add(
        (next, { commandName }) =>
          async (call) => {
            const answer = await next(call);
            if (commandName !== "TransactWriteItemsCommand") return answer;
            stalled.resolve();
            await awake.promise;
            return answer;
          },
        { step: "initialize" },
      );
      const { inventories } = openDynamodbStores({
        client,
        name,
        region: connect().region,
        clock: { ...systemClock, now },
      });
      return { inventories, stalled: stalled.promise, wake: () => awake.resolve(), close: () => client.destroy() };
    }
  });
}
