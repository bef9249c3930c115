import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import type { ArtifactCollection, StoredArtifact } from "../../core/ports/artifact-collection.ts";
import { formatUnnamed, maxUnnamedBytes, parseUnnamed } from "../../core/unnamed-artifacts.ts";
import { callAws } from "../call-aws.ts";
import { artifactKey, digestOfKey } from "./artifact-keys.ts";
import { readObject } from "./read-object.ts";
import { bucketAction, type S3Bucket } from "./s3-bucket.ts";

export interface S3ArtifactCollectionOptions {
  readonly bucket: S3Bucket;
  /** The prefix of the artifacts' keys: empty, or it ends with a slash. */
  readonly prefix: string;
  /** The key of the record that one collection leaves for the next; not below `prefix`. */
  readonly unnamedKey: string;
}

/**
 * Artifacts in a bucket, as {@link s3Artifacts} stores them. Where the bucket keeps versions, a deleted artifact stays for as long as
 * its lifecycle rule keeps old versions, and an administrator can bring it back.
 */
export function s3ArtifactCollection({ bucket, prefix, unnamedKey }: S3ArtifactCollectionOptions): ArtifactCollection {
  const { account, client, name } = bucket;
  const inBucket = { Bucket: name, ...(account === undefined ? {} : { ExpectedBucketOwner: account }) };

  async function listPage(below: string, token: string | undefined, signal: AbortSignal) {
    const command = new ListObjectsV2Command({
      ...inBucket,
      Prefix: below,
      ...(token === undefined ? {} : { ContinuationToken: token }),
    });
    const action = bucketAction("s3:ListBucket", bucket);
    const page = await callAws(action, (options) => client.send(command, options), signal);
    const artifacts = (page.Contents ?? []).flatMap(({ Key: key = "", LastModified: modified }): StoredArtifact[] => {
      const digest = digestOfKey(prefix, key);
      // An artifact of unknown age counts as new.
      return digest === undefined || modified === undefined ? [] : [{ digest, storedAt: modified.getTime() }];
    });
    return { artifacts, next: page.NextContinuationToken };
  }

  return {
    async *list(signal) {
      let token: string | undefined;
      do {
        const { artifacts, next } = await listPage(prefix, token, signal);
        token = next;
        yield artifacts;
      } while (token !== undefined);
    },
    async remove({ digest, storedAt }, signal) {
      const key = artifactKey(prefix, digest);
      // Looked at once more at the last moment. S3 has no condition that tells two equal contents apart: if an artifact is stored again
      // between this check and the deletion, it is missing, and its source pulls it again at its next run.
      const {
        artifacts: [found],
      } = await listPage(key, undefined, signal);
      if (found?.storedAt !== storedAt) return false;
      const command = new DeleteObjectCommand({ ...inBucket, Key: key });
      await callAws(bucketAction("s3:DeleteObject", bucket), (options) => client.send(command, options), signal);
      return true;
    },
    async unnamed(signal) {
      const kept = await readObject(bucket, unnamedKey, { maxBytes: maxUnnamedBytes, keep: true }, signal);
      return parseUnnamed(new TextDecoder().decode(kept?.bytes));
    },
    async keepUnnamed(unnamed, signal) {
      const command = new PutObjectCommand({
        ...inBucket,
        Key: unnamedKey,
        Body: formatUnnamed(unnamed),
        ContentType: "text/plain",
      });
      await callAws(bucketAction("s3:PutObject", bucket), (options) => client.send(command, options), signal);
    },
  };
}
