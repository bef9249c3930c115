import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { mapLimit } from "../../core/map-limit.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { bucketAction, objectIn, type S3Bucket } from "./s3-bucket.ts";
import type { WriteCondition } from "./write-condition.ts";

const partBytes = 8 * 1024 * 1024;
const concurrency = 4;
const partLimitMs = 60_000;
/** Put together by S3 while we wait. */
const completeLimitMs = 120_000;

/**
 * Uploads an object in parts, each with its checksum; it is there all at once or, where anything fails, not at all. Parts of an
 * upload whose process died are left to the bucket's lifecycle rule.
 */
export async function uploadParts(
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

/** Best effort, and also when our own signal is aborted: parts that stay cost money until the lifecycle rule takes them. */
async function abandon(bucket: S3Bucket, key: string, UploadId: string): Promise<void> {
  const abort = new AbortMultipartUploadCommand({ ...objectIn(bucket, key), UploadId });
  const action = bucketAction("s3:AbortMultipartUpload", bucket);
  const { signal } = new AbortController();
  try {
    await callAws(action, (options) => bucket.client.send(abort, options), signal, abandonLimitMs);
  } catch {
    // What went wrong before it is what the caller has to hear of.
  }
}

const abandonLimitMs = 2_000;
