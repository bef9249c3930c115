import { readSecret, secretsClient } from "../../lib/aws/secrets-manager.ts";
import type { Secret } from "../../lib/core/secret.ts";

/** The value of a secret, by its name in the function's own region or by its ARN, which names its region. */
export async function readStoredSecret(id: string, signal: AbortSignal): Promise<Secret> {
  const region = /^arn:[^:]+:secretsmanager:([^:]+):/.exec(id)?.[1] ?? process.env["AWS_REGION"] ?? "";
  const client = secretsClient({ region });
  return readSecret(client, { id, region }, signal).finally(() => client.destroy());
}
