import { SQSClient } from "@aws-sdk/client-sqs";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";

export function sqsClient(connection: AwsConnection): SQSClient {
  return new SQSClient(clientConfig(connection));
}
