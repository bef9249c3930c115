import { digestOf } from "../../core/digest.ts";
import { type ArtifactStore, refreshAfterMs as ofAllStores } from "../../core/ports/artifact-store.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { AwsFault } from "../aws-fault.ts";
import { artifactKey } from "./artifact-keys.ts";
import { isChecked } from "./is-checked.ts";
import { readObject } from "./read-object.ts";
import type { S3Bucket, WriteCondition } from "./s3-bucket.ts";

export interface S3ArtifactsOptions {
  readonly bucket: S3Bucket;
  /** The prefix of all keys: empty, or it ends with a slash. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Default: that of all stores. */
  readonly refreshAfterMs?: number;
}

/** More than the limits of archives let through. */
export const maxArtifactBytes = 256 * 1024 * 1024;
const maxAttempts = 5;
const firstWaitMs = 50;

/** Artifacts in a bucket, each under its digest and verified at each read. */
export function s3Artifacts({
  bucket,
  prefix,
  clock,
  refreshAfterMs = ofAllStores,
}: S3ArtifactsOptions): ArtifactStore {
  return {
    async put(digest, bytes, signal) {
      const actual = digestOf(bytes);
      if (actual !== digest) throw new Error(`artifact ${digest} is not stored: its bytes hash to ${actual}`);
      const key = artifactKey(prefix, digest);
      // Most runs store nothing.
      const { createObject } = await import("./create-object.ts");
      let condition: WriteCondition = { IfNoneMatch: "*" };
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        if ((await createObject(bucket, key, digest, bytes, condition, signal)) === "stored") return;
        // Another writer was first, or the answer to our own write was lost. The object is trusted only if it is the artifact.
        const found = await readObject(bucket, key, { maxBytes: maxArtifactBytes, keep: false }, signal);
        if (found?.digest === digest && found.storedAt > clock.now() - refreshAfterMs) return;
        condition = found === undefined ? { IfNoneMatch: "*" } : { IfMatch: found.etag };
        await clock.sleep(Math.random() * firstWaitMs * 2 ** attempt, signal);
      }
      const why = `other writers keep writing the same key of bucket ${bucket.name}`;
      throw new AwsFault("refused", "PreconditionFailed", `artifact ${digest} is not stored: ${why}`);
    },
    async get(digest, signal) {
      const how = { maxBytes: maxArtifactBytes, keep: true };
      const found = await readObject(bucket, artifactKey(prefix, digest), how, signal);
      return found?.digest === digest ? found.bytes : undefined;
    },
    async has(digest, signal) {
      const key = artifactKey(prefix, digest);
      if (await isChecked(bucket, key, digest, signal)) return true;
      const found = await readObject(bucket, key, { maxBytes: maxArtifactBytes, keep: false }, signal);
      return found?.digest === digest;
    },
  };
}
