import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { dynamodbClient } from "../../lib/aws/dynamodb/dynamodb-client.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import type { Fence } from "../../lib/core/ports/fence.ts";
import type { InventoryEntry, InventoryStore } from "../../lib/core/ports/inventory-store.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { realAws } from "./real-aws.ts";
import { keyOf, leased, never } from "./state-back-end.ts";

const connection = realAws("DYNAMODB");
const key = keyOf("web");
const owner = { uid: "uid", clusterUid: "cluster" };
/** Of many pages. */
const many = 600;
/** Few enough to need no page. */
const few = 20;

function entries(count: number): readonly InventoryEntry[] {
  return Array.from({ length: count }, () => ({ id: `apps_${randomUUID()}__Service`, version: "v1", state: "live" }));
}

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

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };

  test.each(changes)(
    "a holder that has $what and stalls before it cleans up takes no page of its successor's",
    async ({ make, stallsMs }) => {
      const state = await newDynamodb(of);
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
      const { inventories } = openDynamodbStores({ ...state, region: of.region, clock: systemClock });
      expect(await inventories.load(owner, successor, never)).toEqual(after);
      late.close();
      await state.close();
    },
  );

  /** A process that hears of its first change of a pointer only once it is woken. */
  function stallingAtSwap(name: string, now: () => number) {
    const client = dynamodbClient(of);
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
    const { inventories } = openDynamodbStores({ client, name, region: of.region, clock: { ...systemClock, now } });
    return { inventories, stalled: stalled.promise, wake: () => awake.resolve(), close: () => client.destroy() };
  }
});
