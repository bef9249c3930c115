import { randomUUID } from "node:crypto";
import { CreateSecretCommand, PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { describe, expect, test } from "vitest";
import { clientConfig } from "../../lib/aws/aws-connection.ts";
import { readSecret } from "../../lib/aws/secrets/read-secret.ts";
import { realAws } from "./real-aws.ts";
import { never } from "./state-back-end.ts";

const connection = realAws("AWS");

describe.skipIf(connection === undefined)("secrets, where SLUICE_REAL_AWS names one (npm run real -- up)", () => {
  const of = connection ?? { region: "" };

  test("are read by name and by ARN, and cannot be printed", async () => {
    const client = new SecretsManagerClient(clientConfig(of));
    const name = randomUUID();
    const { ARN: arn = "" } = await client.send(new CreateSecretCommand({ Name: name, SecretString: "hunter2" }));
    client.destroy();
    for (const id of [name, arn]) {
      const secret = await readSecret(id, of, never);
      expect([secret.reveal(), String(secret)]).toEqual(["hunter2", "[secret]"]);
    }
  });

  test("that hold bytes and no text are named", async () => {
    const client = new SecretsManagerClient(clientConfig(of));
    const name = randomUUID();
    await client.send(new CreateSecretCommand({ Name: name, SecretBinary: new Uint8Array([1, 2, 3]) }));
    client.destroy();
    await expect(readSecret(name, of, never)).rejects.toThrow(
      `secretsmanager:GetSecretValue on secret ${name}: it holds no text`,
    );
  });

  test("that were changed are read as they are now", async () => {
    const client = new SecretsManagerClient(clientConfig(of));
    const name = randomUUID();
    await client.send(new CreateSecretCommand({ Name: name, SecretString: "old" }));
    await client.send(new PutSecretValueCommand({ SecretId: name, SecretString: "new" }));
    client.destroy();
    expect((await readSecret(name, of, never)).reveal()).toBe("new");
  });

  test("that are not there are named", async () => {
    await expect(readSecret("none", of, never)).rejects.toMatchObject({
      kind: "missing",
      message: expect.stringContaining("secretsmanager:GetSecretValue on secret none: there is none in region"),
    });
  });
});
