import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { Digest } from "../../core/digest.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { bucketAction, objectIn, type S3Bucket } from "./s3-bucket.ts";
import { uploadParts } from "./upload-parts.ts";
import type { WriteCondition } from "./write-condition.ts";

/** Above this an object is sent in parts. */
const maxSingleBytes = 16 * 1024 * 1024;
const limitMs = 60_000;

/**
 * Writes an object, in one request or in parts, with checksums that S3 compares. `taken` where the condition did not hold: of
 * many writers at the same time exactly one is told `stored`, unless its answer was lost.
 */
export async function createObject(
  bucket: S3Bucket,
  key: string,
  digest: Digest,
  bytes: Uint8Array,
  condition: WriteCondition,
  signal: AbortSignal,
): Promise<"stored" | "taken"> {
  try {
    if (bytes.length > maxSingleBytes) {
      await uploadParts(bucket, key, bytes, condition, signal);
      return "stored";
    }
    const command = new PutObjectCommand({
      ...objectIn(bucket, key),
      ...condition,
      Body: bytes,
      ContentType: "application/gzip",
      ChecksumSHA256: Buffer.from(digest.slice("sha256:".length), "hex").toString("base64"),
    });
    await callAws(
      bucketAction("s3:PutObject", bucket),
      (options) => bucket.client.send(command, options),
      signal,
      limitMs,
    );
    return "stored";
  } catch (error) {
    if (error instanceof AwsFault && isTaken(error.code)) return "taken";
    throw error;
  }
}

/** A write that meets another on the way is told 409, and an `If-Match` on what is gone by now 404. */
function isTaken(code: string): boolean {
  return code === "PreconditionFailed" || code === "ConditionalRequestConflict" || code === "NoSuchKey";
}
