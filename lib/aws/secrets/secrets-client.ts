import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";

export function secretsClient(connection: AwsConnection): SecretsManagerClient {
  return new SecretsManagerClient(clientConfig(connection));
}
