import { AsyncLocalStorage } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { AwsFault } from "../../lib/aws/aws-fault.ts";
import { openDynamodbStores } from "../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../lib/aws/dynamodb/state-table.ts";
import { digestOf } from "../../lib/core/digest.ts";
import { messageOf } from "../../lib/core/failure.ts";
import type { Clock } from "../../lib/core/ports/clock.ts";
import { type Fence, LeaseLost } from "../../lib/core/ports/fence.ts";
import type { InventoryEntry, InventoryStore } from "../../lib/core/ports/inventory-store.ts";
import { formatWorkKey, type WorkKey } from "../../lib/core/work-key.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { type DynamodbFault, faultyDynamodb } from "../doubles/faulty-dynamodb.ts";
import type { SeenRequest } from "../doubles/seen-request.ts";
import type { MachineTable, Passage, RealTable } from "../unit/queue/simulator/services.ts";
import { newDynamodb } from "./dynamodb-back-end.ts";
import { never } from "./state-back-end.ts";

const owner = { uid: "uid", clusterUid: "cluster" };
/** Of several pages, and few enough to lie in the pointer's item. */
const [many, few] = [600, 20];

export interface SimulatedDynamodb extends RealTable, AsyncDisposable {
  /** What inventories did that they must not do. */
  wrong(): readonly string[];
  saves(): number;
}

/** The table of one story: machines reach it over a wire on which `faultOf` happens, the story itself without. */
export async function simulatedDynamodb(
  connection: AwsConnection,
  faultOf: (request: SeenRequest) => DynamodbFault | undefined,
): Promise<SimulatedDynamodb> {
  await using opened = new AsyncDisposableStack();
  const wire = opened.use(await faultyDynamodb(connection.endpoint ?? "", faultOf));
  const direct = await newDynamodb(connection);
  opened.defer(() => direct.close());
  const kept = opened.move();
  const of = { name: direct.name, region: connection.region };
  const wrong: string[] = [];
  /** The inventories as the latest save left them; undefined where that gave no answer. */
  const saved = new Map<string, readonly InventoryEntry[] | undefined>();
  let saves = 0;

  /** Reads the inventory as a process that remembers nothing of it: what is in it at any moment is what was last saved. */
  const look = async (key: WorkKey): Promise<void> => {
    const { inventories } = openDynamodbStores({ ...of, client: direct.client, clock: systemClock });
    const name = formatWorkKey(key);
    const found = await inventories.load(owner, { key, token: 0 }, never).catch(messageOf);
    const isKnown = saved.get(name) !== undefined;
    if (typeof found === "string") wrong.push(found);
    else if (isKnown && !isDeepStrictEqual(found, saved.get(name))) wrong.push(`the inventory of ${name} is another`);
  };

  const save = async (inventories: InventoryStore, fence: Fence, { signal, landed }: Passage, passing: Passing) => {
    const key = formatWorkKey(fence.key);
    const found = (await inventories.load(owner, fence, signal)) ?? [];
    const next = nextInventory(found, (saves += 1));
    passing.onSwap = (isSure) => {
      if (!isSure) {
        saved.set(key, undefined);
        return;
      }
      // It went through, so the lease was held: what was loaded must have been the latest.
      const isKnown = !saved.has(key) || saved.get(key) !== undefined;
      if (isKnown && !isDeepStrictEqual(found, saved.get(key) ?? []))
        wrong.push(`an old inventory of ${key} was loaded`);
      saved.set(key, next);
      landed();
    };
    await inventories.save(owner, next, fence, signal);
  };

  const connect = (clock: Clock): MachineTable => {
    const passages = new AsyncLocalStorage<Passing>();
    const client = dynamodbClient({ ...connection, endpoint: wire.url, attemptTimeoutMs: undefined });
    kept.defer(() => client.destroy());
    client.middlewareStack.add(
      (next, { commandName = "" }) =>
        (call) => {
          const passing = passages.getStore();
          return passing === undefined ? next(call) : passing.call(commandName, () => next(call));
        },
      { step: "initialize", priority: "high" },
    );
    // Virtual time stands still while the queue's own calls are under way.
    const sleep: Clock["sleep"] = (...rest) => (passages.getStore() === undefined ? systemClock : clock).sleep(...rest);
    // Each machine has a process of its own, which remembers what it has read.
    const { items, inventories } = openDynamodbStores({ ...of, client, clock: { ...clock, sleep } });
    return {
      items,
      async save(fence, passage) {
        const passing = passingOf(passage);
        try {
          await passages.run(passing, () => save(inventories, fence, passage, passing));
        } catch (error) {
          const isExpected = error instanceof LeaseLost || error instanceof AwsFault || passage.signal.aborted;
          // Who has lost the lease and not heard of it may find anything.
          const isHolder = async () => (await direct.items.get(fence.key, never))?.token === fence.token;
          if (!isExpected && (await isHolder())) wrong.push(`${formatWorkKey(fence.key)}: ${messageOf(error)}`);
          throw error;
        }
        await passage.call("look", () => look(fence.key));
      },
    };
  };

  return {
    wrong: () => wrong,
    saves: () => saves,
    truth: direct.items,
    connect,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A passage that notices the swap of the pointer. */
interface Passing extends Pick<Passage, "call"> {
  /** Once the swap was made; not sure: it may have been made. */
  onSwap: (isSure: boolean) => void;
}

function passingOf({ call }: Passage): Passing {
  const passing: Passing = {
    onSwap() {},
    call: (name, send) =>
      call(name, async () => {
        if (name !== "TransactWriteItemsCommand") return send();
        try {
          const answer = await send();
          passing.onSwap(true);
          return answer;
        } catch (error) {
          if (!isUndone(error)) passing.onSwap(false);
          throw error;
        }
      }),
  };
  return passing;
}

/** A transaction that was cancelled did nothing, unless an earlier try of the same call lost its answer. */
function isUndone(error: unknown): boolean {
  return error instanceof TransactionCanceledException && error.$metadata.attempts === 1;
}

/** Grows and shrinks, and now and then changes only in part; what stays keeps its order. */
function nextInventory(found: readonly InventoryEntry[], save: number): readonly InventoryEntry[] {
  const size = found.length > few && save % 4 !== 0 ? few : many;
  const kept = found.slice(-(size - 1));
  const fresh = Array.from({ length: size - kept.length }, (_, number): InventoryEntry => {
    const id = `apps_${save}-${number}_apps_Deployment`;
    return { id, version: "v1", state: "live", fingerprint: digestOf(id) };
  });
  return [...kept, ...fresh];
}
