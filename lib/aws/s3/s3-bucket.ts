import { S3Client } from "@aws-sdk/client-s3";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";
import type { AwsAction } from "../aws-fault.ts";

/** A try may carry a part of an artifact over a slow line. */
const attemptTimeoutMs = 30_000;

export function s3Client(connection: AwsConnection): S3Client {
  return new S3Client({
    ...clientConfig(connection, attemptTimeoutMs),
    // The address of a stand-in cannot contain the name of a bucket.
    forcePathStyle: connection.endpoint !== undefined,
    // Readers verify the digest; an error of the SDK's own check would be less clear.
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}

/** A bucket and the client to reach it. */
export interface S3Bucket {
  readonly client: S3Client;
  readonly name: string;
  readonly region: string;
  /** The account that must own it: AWS refuses a bucket of the same name in another account. */
  readonly account?: string | undefined;
}

export function bucketAction(name: string, bucket: S3Bucket): AwsAction {
  return { name, resource: `bucket ${bucket.name}`, region: bucket.region, account: bucket.account };
}

/** The parameters of a request that name its object. */
export function objectIn({ name, account }: S3Bucket, key: string) {
  return { Bucket: name, Key: key, ...(account === undefined ? {} : { ExpectedBucketOwner: account }) };
}

/** The condition of a write: no object under the key, or still the same one. */
export type WriteCondition = { readonly IfNoneMatch: "*" } | { readonly IfMatch: string };
