import { inspect } from "node:util";
import { expect, test } from "vitest";
import { awsFault } from "../../../lib/aws/aws-fault.ts";
import { readSecret, secretsClient } from "../../../lib/aws/secrets-manager.ts";
import { type FaultyWire, faultyWire } from "../../doubles/faulty-wire.ts";

const never = new AbortController().signal;
const region = "eu-west-1";
const credentials = { accessKeyId: "x", secretAccessKey: "y" };

/** Of a secret that is read over this wire. */
async function errorOver({ url: endpoint }: FaultyWire): Promise<unknown> {
  const client = secretsClient({ region, endpoint, credentials });
  const error: unknown = await readSecret(client, { id: "s", region }, never).catch((thrown: unknown) => thrown);
  client.destroy();
  return error;
}

test("a successful answer that cannot be parsed is not quoted, because it may be a secret", async () => {
  const headers = { "content-type": "application/x-amz-json-1.1" };
  await using wire = await faultyWire(undefined, () => ({ status: 200, headers, body: '{"SecretString":hunter2}' }));
  const error = await errorOver(wire);
  expect(inspect(error, { depth: 10 })).not.toContain("hunter");
  const message = "secretsmanager:GetSecretValue on secret s: AWS's answer cannot be read";
  expect(error).toMatchObject({ reason: "unavailable", message });
});

test.each([
  [403, "denied", "allow secretsmanager:GetSecretValue in the policy of the role and of the resource"],
  [407, "refused", ""],
  [502, "unavailable", "AWS has an internal error, even after several tries"],
])("an answer %i of a proxy is %s, and not quoted", async (status, reason, message) => {
  await using wire = await faultyWire(undefined, () => ({ status, body: "<html>Proxy of ACME</html>" }));
  const error = await errorOver(wire);
  expect(error).toMatchObject({ reason, message: expect.stringContaining(message) });
  expect(error).toMatchObject({ message: expect.stringContaining("the answer is not AWS's own") });
  expect(error).toMatchObject({ message: expect.not.stringContaining("html") });
});

test("a denied transaction names the permission that its part needs", () => {
  const said =
    "User: arn:aws:sts::111111111111:assumed-role/sluice/f is not authorized to perform: dynamodb:PutItem on t";
  const error = Object.assign(new Error(said), { name: "AccessDeniedException" });
  const fault = awsFault(error, { name: "dynamodb:TransactWriteItems", resource: "table t", region });
  expect(fault.message).toContain("dynamodb:TransactWriteItems on table t: allow dynamodb:PutItem in the policy");
});

test("an error with an unknown name is classified by its status", () => {
  const action = { name: "s3:GetObject", resource: "bucket b", region };
  const error = Object.assign(new Error("?"), { name: "New", $metadata: { httpStatusCode: 403 }, $response: {} });
  expect(awsFault(error, action)).toMatchObject({ reason: "denied", code: "New" });
});
