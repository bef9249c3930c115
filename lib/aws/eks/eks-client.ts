import { EKSClient } from "@aws-sdk/client-eks";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";

/** EKS answers for the clusters of its own region alone. */
export function eksClient(connection: AwsConnection): EKSClient {
  return new EKSClient(clientConfig(connection));
}
