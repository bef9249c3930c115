import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { mapLimit } from "../../core/concurrency.ts";
import type { Digest } from "../../core/digest.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { checksumOf } from "./is-checked.ts";
import { bucketAction, objectIn, type S3Bucket, type WriteCondition } from "./s3-bucket.ts";

/** Above this an object is sent in parts. */
const maxSingleBytes = 16 * 1024 * 1024;
const limitMs = 60_000;

/**
 * Writes an object, in one request or in parts, with checksums that S3 compares. `taken`: the condition failed. Exactly one of several
 * concurrent writers gets `stored`, unless its answer was lost.
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
      ChecksumSHA256: checksumOf(digest),
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

/** A write that meets a concurrent one is answered 409, and an `If-Match` on a deleted object 404. */
function isTaken(code: string): boolean {
  return code === "PreconditionFailed" || code === "ConditionalRequestConflict" || code === "NoSuchKey";
}

const partBytes = 8 * 1024 * 1024;
const concurrency = 4;
const partLimitMs = 60_000;
/** S3 joins the parts while we wait. */
const completeLimitMs = 120_000;

/**
 * Uploads an object in parts, each with its checksum. The object appears as a whole, or not at all if something fails. If the
 * process dies, the bucket's lifecycle rule removes the parts.
 */
async function uploadParts(
  bucket: S3Bucket,
  key: string,
  bytes: Uint8Array,
  condition: WriteCondition,
  signal: AbortSignal,
): Promise<void> {
  const { client } = bucket;
  const object = objectIn(bucket, key);
  const action = bucketAction("s3:PutObject", bucket);
  const create = new CreateMultipartUploadCommand({
    ...object,
    ContentType: "application/gzip",
    ChecksumAlgorithm: "SHA256",
  });
  const { UploadId } = await callAws(action, (options) => client.send(create, options), signal);
  if (UploadId === undefined)
    throw new AwsFault("refused", "", `${action.name} on ${action.resource}: an upload without an id`);
  try {
    const numbers = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, index) => index + 1);
    const Parts = await mapLimit(
      numbers,
      concurrency,
      async (PartNumber, stop) => {
        const Body = bytes.subarray((PartNumber - 1) * partBytes, PartNumber * partBytes);
        const part = new UploadPartCommand({ ...object, UploadId, PartNumber, Body, ChecksumAlgorithm: "SHA256" });
        const sent = await callAws(action, (options) => client.send(part, options), stop, partLimitMs);
        return { PartNumber, ETag: sent.ETag, ChecksumSHA256: sent.ChecksumSHA256 };
      },
      signal,
    );
    const complete = new CompleteMultipartUploadCommand({
      ...object,
      ...condition,
      UploadId,
      MultipartUpload: { Parts },
    });
    await callAws(action, (options) => client.send(complete, options), signal, completeLimitMs);
  } catch (error) {
    await abandon(bucket, key, UploadId);
    throw error;
  }
}

/** Best effort, also if our own signal is aborted: parts that stay cost money until the lifecycle rule removes them. */
async function abandon(bucket: S3Bucket, key: string, UploadId: string): Promise<void> {
  const abort = new AbortMultipartUploadCommand({ ...objectIn(bucket, key), UploadId });
  const action = bucketAction("s3:AbortMultipartUpload", bucket);
  const { signal } = new AbortController();
  try {
    await callAws(action, (options) => bucket.client.send(abort, options), signal, abandonLimitMs);
  } catch {
    // The caller gets the error of the upload instead.
  }
}

const abandonLimitMs = 2_000;
