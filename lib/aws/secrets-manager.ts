import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { Secret } from "../core/secret.ts";
import { type AwsConnection, clientConfig } from "./aws-connection.ts";
import { AwsFault } from "./aws-fault.ts";
import { callAws } from "./call-aws.ts";

export function secretsClient(connection: AwsConnection): SecretsManagerClient {
  return new SecretsManagerClient(clientConfig(connection));
}

/** A secret of Secrets Manager and its region. */
export interface StoredSecret {
  /** Its name or ARN. */
  readonly id: string;
  readonly region: string;
}

/** The text of a secret. Throws an {@link AwsFault} if it cannot be read or is empty. */
export async function readSecret(
  client: SecretsManagerClient,
  { id, region }: StoredSecret,
  signal: AbortSignal,
): Promise<Secret> {
  const action = { name: "secretsmanager:GetSecretValue", resource: `secret ${id}`, region };
  const command = new GetSecretValueCommand({ SecretId: id });
  const { SecretString: text = "" } = await callAws(action, (options) => client.send(command, options), signal);
  if (text === "") throw new AwsFault("refused", "", `${action.name} on ${action.resource}: it holds no text`);
  return new Secret(text);
}
