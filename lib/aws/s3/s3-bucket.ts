import type { S3Client } from "@aws-sdk/client-s3";
import type { AwsAction } from "../aws-fault.ts";

/** A bucket and the way to it. */
export interface S3Bucket {
  readonly client: S3Client;
  readonly name: string;
  readonly region: string;
  /** Whose it has to be: a bucket of another account that took over the name is refused by AWS. */
  readonly account?: string | undefined;
}

export function bucketAction(name: string, bucket: S3Bucket): AwsAction {
  return { name, resource: `bucket ${bucket.name}`, region: bucket.region, account: bucket.account };
}

/** The object that a request is about. */
export function objectIn({ name, account }: S3Bucket, key: string) {
  return { Bucket: name, Key: key, ...(account === undefined ? {} : { ExpectedBucketOwner: account }) };
}
