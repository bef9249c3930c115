import { isDeepStrictEqual } from "node:util";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { type DynamodbStores, openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { type Fence, LeaseLost } from "../../lib/core/ports/fence.ts";
import type { InventoryEntry } from "../../lib/core/ports/inventory-store.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { type DynamodbFault, faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import type { SeenRequest } from "../doubles/seen-request.ts";
import type { RealTable } from "../unit/queue/simulator/services.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { never } from "./state-back-end.ts";

const owner = { uid: "uid", clusterUid: "cluster" };

export interface SimulatedDynamodb extends RealTable, AsyncDisposable {
  /** What inventories did that they must not do. */
  readonly wrong: readonly string[];
  saves(): number;
}

/** The table of one story: machines reach it over a wire on which `faultOf` happens, the story itself without. */
export async function simulatedDynamodb(
  connection: AwsConnection,
  faultOf: (request: SeenRequest) => DynamodbFault | undefined,
): Promise<SimulatedDynamodb> {
  const wire = await faultyDynamodb(connection.endpoint ?? "", faultOf);
  const state = await newDynamodb(connection, { endpoint: wire.url });
  const direct = await newDynamodb(connection);
  const of = { name: state.name, region: connection.region, clock: systemClock };
  const wrong: string[] = [];
  /** The inventories as the latest save left them; undefined where that gave no answer. */
  const saved = new Map<string, readonly InventoryEntry[] | undefined>();
  let saves = 0;

  const save = async ({ inventories }: DynamodbStores, fence: Fence): Promise<void> => {
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

  return {
    wrong,
    saves: () => saves,
    truth: openDynamodbStores({ ...of, client: direct.client }).items,
    connect() {
      // Each machine has a process of its own, which remembers what it has read.
      const stores = openDynamodbStores({ ...of, client: state.client });
      return { items: stores.items, save: (fence) => save(stores, fence) };
    },
    async [Symbol.asyncDispose]() {
      await state.close();
      await direct.close();
      await wire[Symbol.asyncDispose]();
    },
  };
}
