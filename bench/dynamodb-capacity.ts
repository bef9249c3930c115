import { randomUUID } from "node:crypto";
import { DeleteTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { z } from "zod";
import { createStateTable } from "../lib/aws/dynamodb/create-state-table.ts";
import { dynamodbClient } from "../lib/aws/dynamodb/dynamodb-client.ts";
import { type DynamodbStores, openDynamodbStores } from "../lib/aws/dynamodb/open-stores.ts";
import { digestOf } from "../lib/core/digest.ts";
import type { InventoryEntry } from "../lib/core/ports/inventory-store.ts";
import type { Flow, Run } from "../lib/core/run.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import { formatWorkKey, type WorkKey } from "../lib/core/work-key.ts";
import { handleWakeUp } from "../lib/queue/handle-wake-up.ts";
import type { RunnerDeps } from "../lib/queue/queue-deps.ts";
import { requestReconcile } from "../lib/queue/request-reconcile.ts";
import { rules } from "../lib/queue/rules/rules.ts";
import { realAws } from "../test/contract/real-aws.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { type Figure, figure } from "./figure.ts";

const sizes = [4, 200, 2_000];
const { signal } = new AbortController();
const owner = { uid: "0b0f7a3c-6a4e-4f0e-9a56-0d8f2f6f5d11", clusterUid: "5c2f1f1e-8a51-4a52-8f0e-2f3a1f7c9b10" };
const kustomization: WorkKey = {
  cluster: "production",
  group: "kustomize.toolkit.fluxcd.io",
  kind: "Kustomization",
  namespace: "apps",
  name: "storefront",
};
const source: WorkKey = { ...kustomization, group: "source.toolkit.fluxcd.io", kind: "OCIRepository" };

interface Spent {
  readUnits: number;
  writeUnits: number;
  reads: number;
  writes: number;
}

/**
 * What one reconcile of a Kustomization costs in the table, from the request to the end of its run, as DynamoDB counts it
 * (`ReturnConsumedCapacity`). The queue is the real one; the flow makes the calls to the state that the Kustomization's flow
 * makes and nothing else. Needs `SLUICE_REAL_DYNAMODB` (`npm run real -- up`).
 */
export async function dynamodbCapacity(): Promise<readonly Figure[]> {
  const connection = realAws("DYNAMODB");
  if (connection === undefined) {
    process.stderr.write("dynamodbCapacity is left out: SLUICE_REAL_DYNAMODB names no DynamoDB (npm run real -- up)\n");
    return [];
  }
  const client = dynamodbClient(connection);
  const name = `sluice-bench-${randomUUID()}`;
  await createStateTable(client, name, signal);
  try {
    const spent = meter(client);
    const open = () => openDynamodbStores({ client, name, region: connection.region, clock: systemClock });
    const figures: Figure[] = [];
    for (const size of sizes) figures.push(...(await storyOf(size, open, spent)));
    return figures;
  } finally {
    await client.send(new DeleteTableCommand({ TableName: name }));
    client.destroy();
  }
}

async function storyOf(size: number, open: () => DynamodbStores, spent: Spent): Promise<readonly Figure[]> {
  const key = { ...kustomization, name: `storefront-${size}` };
  const first = objects(size);
  const changed = first.with(0, {
    ...entry(0),
    desired: digestOf("changed"),
    fingerprint: digestOf("changed, applied"),
  });
  await recordArtifact(open());
  const warm = open();
  const figures: Figure[] = [];
  for (const [what, wanted, stores] of [
    ["first apply, cold process", first, open()],
    ["one object changed, cold process", changed, open()],
    ["unchanged, cold process", changed, warm],
    ["unchanged, warm process", changed, warm],
  ] as const) {
    const before = { ...spent };
    await reconcileOnce(key, flowTo(wanted, stores), stores);
    const cost = (unit: keyof Spent): number => spent[unit] - before[unit];
    const isLimited = what === "unchanged, warm process";
    const name = `state, ${size} objects, ${what}`;
    figures.push(
      figure(`${name}, reads`, "requests", [cost("reads")], isLimited ? { of: "max", atMost: 2 } : undefined),
      figure(`${name}, writes`, "requests", [cost("writes")], isLimited ? { of: "max", atMost: 4 } : undefined),
      figure(`${name}, reads`, "read units", [cost("readUnits")]),
      figure(`${name}, writes`, "write units", [cost("writeUnits")]),
    );
  }
  return figures;
}

/** A request, the wake-up that it sends, and the run. */
async function reconcileOnce(key: WorkKey, flow: Flow, { items }: DynamodbStores): Promise<void> {
  const deps: RunnerDeps = {
    items,
    wakeUps: { send: async () => {} },
    deadLetters: { send: () => Promise.reject(new Error("a run did not end well")) },
    clock: systemClock,
    log: { ...silentLog, error: (message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`) },
    rules,
    newHolder: randomUUID,
    inputOf: async () => "",
    onPoisoned: async () => {},
  };
  await requestReconcile(key, "bench", deps, signal);
  const delivery = { wakeUp: { key: formatWorkKey(key) }, extend: async () => {} };
  await handleWakeUp(delivery, flow, deps, signal);
}

function flowTo(wanted: readonly InventoryEntry[], stores: DynamodbStores): Flow {
  return async (run) => {
    const before = (await beforeRevision(run, stores)) ?? [];
    const known = new Map(before.map((one) => [one.id, one]));
    const added = wanted.filter(({ id }) => !known.has(id));
    if (added.length > 0) {
      const planned = added.map(({ id, version }) => ({ id, version, state: "planned" as const }));
      await stores.inventories.save(owner, [...before, ...planned], run.fence, signal);
      const claims = added.map(({ id }) => ({ id, ownerUid: owner.uid, owner: "Kustomization/apps/storefront" }));
      await stores.ledger.claim(owner.clusterUid, claims, run.fence, signal);
    }
    const isChanged = wanted.some(({ id, desired }) => known.get(id)?.desired !== desired);
    if (isChanged) await stores.inventories.save(owner, wanted, run.fence, signal);
    const counts = { created: added.length, configured: 0, unchanged: wanted.length - added.length, deleted: 0 };
    const record = { at: Date.now(), revision, outcome: "ReconciliationSucceeded", durationMs: 1, ...counts };
    await stores.history.append(run.key, record, signal);
    const seen = { objectUid: owner.uid, clusterUid: owner.clusterUid, revision };
    return { outcome: "applied", dueInMs: 600_000, memo: { failures: 0 }, seen };
  };
}

const artifact = digestOf("artifact");
const revision = `main@${artifact}`;

async function beforeRevision(run: Run, { edges, records, inventories }: DynamodbStores) {
  await edges.listen([`src#${formatWorkKey(source)}`], run.fence, signal);
  if (!(await records.recorded(source, "source-uid", artifact, signal)))
    throw new Error("the artifact is not recorded");
  return inventories.load(owner, run.fence, signal);
}

/** As the source's own flow does before. */
async function recordArtifact(stores: DynamodbStores): Promise<void> {
  const flow: Flow = async ({ fence }) => {
    await stores.records.record(source, "source-uid", artifact, fence, signal);
    return { outcome: "stored", dueInMs: undefined };
  };
  await reconcileOnce(source, flow, stores);
}

function objects(count: number): readonly InventoryEntry[] {
  return Array.from({ length: count }, (_, number) => entry(number));
}

function entry(number: number): InventoryEntry {
  const desired = digestOf(`desired ${number}`);
  const id = `apps_storefront-component-${number}_apps_Deployment`;
  return { id, version: "v1", uid: randomUUID(), desired, fingerprint: digestOf(desired), state: "live" };
}

const Units = z.object({ CapacityUnits: z.number() });
const Answer = z.object({ ConsumedCapacity: z.union([Units.transform((one) => [one]), z.array(Units)]) });
const Transaction = z.object({
  TransactItems: z.array(z.object({ Put: z.object({ Item: z.record(z.string(), z.unknown()) }).optional() })),
});

/** Counts what every call of this client consumes from now on. */
function meter(client: DynamoDBClient): Spent {
  const spent: Spent = { readUnits: 0, writeUnits: 0, reads: 0, writes: 0 };
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (call) => {
        const result = await next({ ...call, input: { ...call.input, ReturnConsumedCapacity: "INDEXES" } });
        const consumed = Answer.safeParse(result.output).data?.ConsumedCapacity ?? [];
        const said = consumed.reduce((sum, { CapacityUnits: one }) => sum + one, 0);
        const transaction = Transaction.safeParse(call.input).data;
        const isWrite = /Write|Put|Update|Delete/.test(commandName);
        spent[isWrite ? "writeUnits" : "readUnits"] += transaction === undefined ? said : transactionUnits(transaction);
        spent[isWrite ? "writes" : "reads"] += 1;
        return result;
      },
    { step: "initialize" },
  );
  return spent;
}

/** DynamoDB Local counts no item of a transaction double and rounds none up; AWS does (two units a begun kilobyte). */
function transactionUnits({ TransactItems: writes }: z.infer<typeof Transaction>): number {
  return writes.reduce((sum, { Put: put }) => sum + 2 * Math.max(1, Math.ceil(sizeOf(put?.Item ?? {}) / 1024)), 0);
}

/** Near enough: names and values, as text or bytes. */
function sizeOf(item: Readonly<Record<string, unknown>>): number {
  return Object.entries(item).reduce((sum, [name, value]) => {
    const { S: text, N: digits, B: bytes } = Value.parse(value);
    return sum + name.length + (bytes?.length ?? Buffer.byteLength(text ?? digits ?? ""));
  }, 0);
}

const Value = z.object({
  S: z.string().optional(),
  N: z.string().optional(),
  B: z.instanceof(Uint8Array).optional(),
});
