import { randomUUID } from "node:crypto";
import { CreateSecretCommand, PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, describe, expect, test } from "vitest";
import { readSecret, secretsClient } from "../../lib/aws/secrets-manager.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("AWS");

describe.skipIf(connection === undefined)("secrets, where SLUICE_REAL_AWS names one (npm run real -- up)", () => {
  const of = connection ?? { region: "eu-west-1" };
  const client = secretsClient(of);
  const read = (id: string) => readSecret(client, { id, region: of.region }, never);
  afterAll(() => client.destroy());

  test("are read by name and by ARN, and cannot be printed", async () => {
    const name = randomUUID();
    const { ARN: arn = "" } = await client.send(new CreateSecretCommand({ Name: name, SecretString: "hunter2" }));
    for (const id of [name, arn]) {
      const secret = await read(id);
      expect([secret.reveal(), String(secret)]).toEqual(["hunter2", "[secret]"]);
    }
  });

  test("that contain binary data are refused by name", async () => {
    const name = randomUUID();
    await client.send(new CreateSecretCommand({ Name: name, SecretBinary: new Uint8Array([1, 2, 3]) }));
    await expect(read(name)).rejects.toThrow(`secretsmanager:GetSecretValue on secret ${name}: it holds no text`);
  });

  test("that were changed are read with their new value", async () => {
    const name = randomUUID();
    await client.send(new CreateSecretCommand({ Name: name, SecretString: "old" }));
    await client.send(new PutSecretValueCommand({ SecretId: name, SecretString: "new" }));
    expect((await read(name)).reveal()).toBe("new");
  });

  test("that are missing are named", async () => {
    await expect(read("none")).rejects.toMatchObject({
      reason: "missing",
      message: expect.stringContaining("secretsmanager:GetSecretValue on secret none: it does not exist in region"),
    });
  });
});
