import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import { dynamodbClusterStates } from "../../../../lib/aws/dynamodb/cluster-states.ts";
import { openStateTable } from "../../../../lib/aws/dynamodb/state-table.ts";
import { ttlAttribute } from "../../../../lib/aws/dynamodb/table.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { never } from "../../../contract/state-back-end.ts";

test("an expired hold and an expired busy process do not count, even if DynamoDB has not removed them yet", async () => {
  const nowMs = 1_000_000;
  const hold = { kind: "unreachable", reason: "no answer", since: 1, probes: 3 };
  const busy = (process: string) => ({ process, runs: 7, renewals: 4 });
  const row = (sk: string, state: object, expires: number) => ({
    ...{ pk: { S: "p" }, sk: { S: sk }, state: { S: JSON.stringify(state) } },
    [ttlAttribute]: { N: String(expires) },
  });
  const rows = [row("busy#a", busy("a"), 1_001), row("busy#b", busy("b"), 1_000), row("hold", hold, 999)];
  const partitions: unknown[] = [];
  const client = new DynamoDBClient({ region: "eu-west-1", credentials: { accessKeyId: "x", secretAccessKey: "y" } });
  client.middlewareStack.add(
    () =>
      async ({ input }) => {
        if ("ExpressionAttributeValues" in input) partitions.push(input.ExpressionAttributeValues?.[":pk"]);
        return { response: {}, output: { $metadata: {}, Items: rows } };
      },
    { step: "initialize" },
  );
  const clock = { ...systemClock, now: () => nowMs };
  const states = dynamodbClusterStates(openStateTable({ client, name: "sluice", region: "eu-west-1", clock }));
  expect(await states.read("prod", never)).toEqual({ hold: undefined, busy: [busy("a")] });
  expect(partitions).toEqual([{ S: "cluster#prod" }]);
  client.destroy();
});
