import { S3Client } from "@aws-sdk/client-s3";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";

/** A try may carry a part of an artifact, also over a slow line. */
const attemptTimeoutMs = 30_000;

export function s3Client(connection: AwsConnection): S3Client {
  return new S3Client({
    ...clientConfig(connection, attemptTimeoutMs),
    // Stand-ins are reached by an address, which has no room for a bucket's name.
    forcePathStyle: connection.endpoint !== undefined,
    // Whoever reads verifies the digest; the SDK's own check would only say less clearly that something is wrong.
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}
