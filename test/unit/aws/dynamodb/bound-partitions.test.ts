import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type DynamodbStores, openDynamodbStores } from "../../../../lib/aws/dynamodb/open-stores.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { keyOf, never, overdueItems, workItem } from "../../../contract/state-back-end.ts";

const key = keyOf("web");
const fixture = join(import.meta.dirname, "../../../../infra/test/fixtures/privateCluster.json");

const list = z.union([z.array(z.string()), z.string().transform((one): readonly string[] => [one])]);
const Statement = z.looseObject({
  Action: list,
  Resource: z.unknown(),
  Condition: z
    .looseObject({ "ForAllValues:StringLike": z.looseObject({ "dynamodb:LeadingKeys": list }) })
    .or(z.undefined().optional()),
});
const Policies = z.object({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Properties: z.looseObject({ PolicyDocument: z.unknown().optional() }).optional(),
    }),
  ),
});

/** Whether the reviewed template lets the role of a function do this with rows of the state table under this partition. */
function isAllowed(role: string, action: string, partition: string): boolean {
  const { Resources } = Policies.parse(JSON.parse(readFileSync(fixture, "utf8")));
  const [, policy] = Object.entries(Resources).find(([id]) => id.startsWith(`Sluice${role}RoleDefaultPolicy`)) ?? [];
  const { Statement: statements } = z
    .object({ Statement: z.array(Statement) })
    .parse(policy?.Properties?.PolicyDocument);
  return statements.some(({ Action, Condition, Resource }) => {
    if (!Action.includes(`dynamodb:${action}`) || JSON.stringify(Resource).includes("/index/")) return false;
    const keys = Condition?.["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] ?? ["*"];
    return keys.some((one) => (one.endsWith("*") ? partition.startsWith(one.slice(0, -1)) : partition === one));
  });
}

const text = z.object({ S: z.string() }).transform(({ S }) => S);
const Row = z.looseObject({ pk: text });
/** A request of the SDK, as far as it names partitions. */
const Input = z.looseObject({
  IndexName: z.string().optional(),
  Key: Row.optional(),
  Item: Row.optional(),
  ExpressionAttributeValues: z.looseObject({ ":pk": text.optional() }).optional(),
});

/** What these calls ask of the table, as `Query obj#`: the action, and the partition up to its prefix. The index has a right of its own. */
async function asked(call: (stores: DynamodbStores) => Promise<unknown>): Promise<readonly [string, string][]> {
  const requests: [string, string][] = [];
  const client = new DynamoDBClient({ region: "eu-west-1", credentials: { accessKeyId: "x", secretAccessKey: "y" } });
  client.middlewareStack.add(
    (_next, { commandName }) =>
      async ({ input }) => {
        const { ExpressionAttributeValues: values, IndexName, Item, Key } = Input.parse(input);
        const partition = Key?.pk ?? Item?.pk ?? values?.[":pk"];
        if (IndexName === undefined) requests.push([String(commandName).replace(/Command$/, ""), partition ?? ""]);
        return { response: {}, output: { $metadata: {}, Items: [] } };
      },
    { step: "initialize" },
  );
  await call(openDynamodbStores({ client, name: "sluice", region: "eu-west-1", clock: systemClock }));
  client.destroy();
  return requests;
}

describe("functions that only request runs", () => {
  const request = async ({ items }: DynamodbStores): Promise<void> => {
    await items.get(key, never);
    await items.put(workItem(key), never);
  };
  const functions: readonly { role: string; calls: (stores: DynamodbStores) => Promise<unknown> }[] = [
    {
      role: "Ingest",
      calls: async (stores) => {
        await request(stores);
        await stores.subscriptions.followers("repo#x", never);
        await stores.observed.get(key, never);
      },
    },
    {
      role: "Sweep",
      calls: async (stores) => {
        await request(stores);
        await overdueItems(stores.items, 0);
        await stores.clusterStates.read("home", never);
      },
    },
    {
      role: "Receiver",
      calls: async (stores) => {
        await request(stores);
        await stores.receivers.find("/hook/x", never);
      },
    },
  ];

  test.each(functions)("$role may do everything that it does with the state table", async ({ role, calls }) => {
    const requests = await asked(calls);
    expect(requests.length).toBeGreaterThan(4);
    expect(requests.filter(([action, partition]) => !isAllowed(role, action, partition))).toEqual([]);
  });

  test.each(functions)("$role must not write a claim, subscription, Receiver entry or hold", ({ role }) => {
    const others = ["own#", "edge#", "hook#", "cluster#", "seen#"].flatMap((prefix) =>
      ["BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"].filter((action) =>
        isAllowed(role, action, `${prefix}x`),
      ),
    );
    expect(others).toEqual([]);
    expect(["DeleteItem", "PutItem"].filter((action) => isAllowed(role, action, "obj#x"))).toEqual([]);
    expect(isAllowed(role, "Query", "own#x")).toBe(false);
  });
});
