/** Names of buckets by namespace. */
export type AllowedBuckets = Readonly<Record<string, readonly string[]>>;

/** Whether objects of a namespace may use our identity for this bucket of S3. Nothing is allowed that is not listed, to the last character. */
export function isAllowedBucket(allowed: AllowedBuckets, namespace: string, bucket: string): boolean {
  return Object.hasOwn(allowed, namespace) && (allowed[namespace] ?? []).includes(bucket);
}

/** Whether this is the name of one bucket: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
export function isBucketName(text: string): boolean {
  return /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text) && !text.includes("..");
}
