import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { Secret } from "../../core/secret.ts";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";

/** The text of a secret in Secrets Manager, by name or ARN. Throws an {@link AwsFault} where it cannot be read or is empty. */
export async function readSecret(id: string, connection: AwsConnection, signal: AbortSignal): Promise<Secret> {
  const action = { name: "secretsmanager:GetSecretValue", resource: `secret ${id}`, region: connection.region };
  const client = new SecretsManagerClient(clientConfig(connection));
  try {
    const command = new GetSecretValueCommand({ SecretId: id });
    const { SecretString: text = "" } = await callAws(action, (options) => client.send(command, options), signal);
    if (text === "") throw new AwsFault("refused", "", `${action.name} on ${action.resource}: it holds no text`);
    return new Secret(text);
  } finally {
    client.destroy();
  }
}
