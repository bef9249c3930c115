import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";

/** Items are small: a try that takes longer than this has met a host that is going. */
const defaultAttemptTimeoutMs = 3_000;

export function dynamodbClient(connection: AwsConnection, attemptTimeoutMs = defaultAttemptTimeoutMs): DynamoDBClient {
  return new DynamoDBClient(clientConfig(connection, attemptTimeoutMs));
}
