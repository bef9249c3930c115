import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { type Fence, LeaseLost } from "../../lib/core/ports/fence.ts";
import type { InventoryEntry } from "../../lib/core/ports/inventory-store.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import type { MachineTable } from "../unit/queue/simulator/services.ts";
import { simulate } from "../unit/queue/simulator/simulate.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { dynamodbFaults } from "./dynamodb-faults.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";
import { wireFaults } from "./wire-faults.ts";

const connection = realAws("DYNAMODB");
const only = process.env["SLUICE_SIM_DYNAMODB_SEED"];
const count = Number(process.env["SLUICE_SIM_DYNAMODB_SEEDS"] ?? 4);
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];
const owner = { uid: "uid", clusterUid: "cluster" };

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  test.each(seeds)(
    "the work queue keeps its promises on DynamoDB under every fault, its own and the wire's: seed %i",
    { timeout: 300_000 },
    async (seed) => {
      const of = connection ?? { region: "" };
      await using wire = await faultyDynamodb(of.endpoint ?? "", wireFaults(dynamodbFaults, seed).of);
      const state = await newDynamodb(of, { endpoint: wire.url });
      const direct = await newDynamodb(of);
      const wrong: string[] = [];
      /** The inventories as the latest save left them; undefined where that gave no answer. */
      const saved = new Map<string, readonly InventoryEntry[] | undefined>();
      let saves = 0;

      // Each machine has a process of its own, which remembers what it has read.
      const connect = (): MachineTable => {
        const stores = openDynamodbStores({
          client: state.client,
          name: state.name,
          region: of.region,
          clock: systemClock,
        });
        return { items: stores.items, save: (fence) => save(stores, fence) };
      };
      const save = async ({ inventories }: Pick<typeof state, "inventories">, fence: Fence): Promise<void> => {
        const key = formatWorkKey(fence.key);
        const before = saved.get(key) ?? [];
        const isKnown = !saved.has(key) || saved.get(key) !== undefined;
        const found = (await inventories.load(owner, fence, never)) ?? [];
        const next: InventoryEntry[] = [{ id: `entry-${(saves += 1)}`, version: "v1", state: "live" }];
        try {
          await inventories.save(owner, [...found.slice(-3), ...next], fence, never);
        } catch (error) {
          if (!(error instanceof LeaseLost)) saved.set(key, undefined);
          throw error;
        }
        // Saved, so the lease was held: what was loaded must have been the latest.
        if (isKnown && !isDeepStrictEqual(found, before)) wrong.push(`an old inventory of ${key} was loaded`);
        saved.set(key, [...found.slice(-3), ...next]);
      };

      const { items: truth } = openDynamodbStores({
        client: direct.client,
        name: state.name,
        region: of.region,
        clock: systemClock,
      });
      const { violations, trace } = await simulate(seed, { table: { truth, connect } }, only !== undefined);
      if (only !== undefined) process.stdout.write(`${trace.join("\n")}\n`);
      const replay = `SLUICE_SIM_DYNAMODB_SEED=${seed} npx vitest run test/contract/dynamodb-simulator.test.ts`;
      expect([...violations, ...wrong], `replay it with its trace: ${replay}`).toEqual([]);
      expect(saves).toBeGreaterThan(0);
      await state.close();
      await direct.close();
    },
  );
});
