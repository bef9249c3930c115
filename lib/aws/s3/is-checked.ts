import { HeadObjectCommand } from "@aws-sdk/client-s3";
import type { Digest } from "../../core/digest.ts";
import { AwsFault, type AwsFaultReason } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { bucketAction, objectIn, type S3Bucket } from "./s3-bucket.ts";

/** A GET would get the same answer. */
const temporary: ReadonlySet<AwsFaultReason> = new Set(["throttled", "timeout", "unavailable", "unreachable"]);

/** A digest as S3 sends and takes it. */
export function checksumOf(digest: Digest): string {
  return Buffer.from(digest.slice("sha256:".length), "hex").toString("base64");
}

/**
 * Whether S3 itself has found, when the object was written, that its bytes have this digest; asks without reading them. False does not mean
 * that the object is missing or damaged: S3 has no such checksum of one that was sent in parts, and an answer to HEAD does not say why it is refused.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
export async function isChecked(bucket: S3Bucket, key: string, digest: Digest, signal: AbortSignal): Promise<boolean> {
  const command = new HeadObjectCommand({ ...objectIn(bucket, key), ChecksumMode: "ENABLED" });
  try {
    // IAM has no action of its own for HEAD.
    const action = bucketAction("s3:GetObject", bucket);
    const found = await callAws(action, (options) => bucket.client.send(command, options), signal);
    return found.ChecksumSHA256 === checksumOf(digest);
  } catch (error) {
    if (error instanceof AwsFault && !temporary.has(error.reason)) return false;
    throw error;
  }
}
