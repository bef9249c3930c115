import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { Secret } from "../../core/secret.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";

/** A secret of Secrets Manager and where it lies. */
export interface StoredSecret {
  /** Its name or ARN. */
  readonly id: string;
  readonly region: string;
}

/** The text of a secret. Throws an {@link AwsFault} where it cannot be read or is empty. */
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
