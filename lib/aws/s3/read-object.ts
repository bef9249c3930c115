import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { Digest } from "../../core/digest.ts";
import { AwsFault, awsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { bucketAction, objectIn, type S3Bucket } from "./s3-bucket.ts";

const limitMs = 60_000;

export interface StoredObject {
  /** The digest of all bytes, computed while they arrive. */
  readonly digest: Digest;
  /** Names exactly this content, for a write that replaces it. */
  readonly etag: string;
  /** When it was written, by S3's clock: milliseconds since 1970. */
  readonly storedAt: number;
  /** The whole content, if it was to be kept. */
  readonly bytes: Uint8Array;
}

interface HowToRead {
  readonly maxBytes: number;
  /** If false, only a chunk of the object is in memory at any time, and `bytes` is empty. */
  readonly keep: boolean;
}

/** Streams a whole object of at most `maxBytes` and computes its digest; undefined if there is none. */
export async function readObject(
  bucket: S3Bucket,
  key: string,
  { maxBytes, keep }: HowToRead,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const action = bucketAction("s3:GetObject", bucket);
  const refused = (why: string): AwsFault =>
    new AwsFault("refused", "", `${action.name} on ${action.resource}: ${key} ${why}`);
  return callAws(
    action,
    async (options) => {
      const command = new GetObjectCommand(objectIn(bucket, key));
      const found = await bucket.client.send(command, options).catch((error: unknown) => {
        const fault = awsFault(error, action);
        if (fault.code === "NoSuchKey") return undefined;
        throw fault;
      });
      if (found === undefined) return undefined;
      const { Body: body, ContentLength: length, ETag: etag = "", LastModified: modified } = found;
      if (!(body instanceof Readable)) throw new TypeError("Node gives a stream");
      const onAbort = (): void => void body.destroy(new Error("given up"));
      options.abortSignal.addEventListener("abort", onAbort, { once: true });
      try {
        if (length === undefined) throw refused("came without its length");
        if (length > maxBytes) throw refused(`is longer than ${maxBytes} bytes`);
        return { ...(await receive(body, length, keep)), etag, storedAt: modified?.getTime() ?? 0 };
      } finally {
        options.abortSignal.removeEventListener("abort", onAbort);
        body.destroy();
      }
    },
    signal,
    limitMs,
  );
}

/** Reads as many bytes as HTTP has announced: Node passes on at most that many, and ends a shorter stream with an error. */
async function receive(body: Readable, length: number, keep: boolean): Promise<Pick<StoredObject, "bytes" | "digest">> {
  const bytes = Buffer.allocUnsafeSlow(keep ? length : 0);
  const sha256 = createHash("sha256");
  let read = 0;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError("a stream without encoding gives bytes");
    sha256.update(chunk);
    if (keep) bytes.set(chunk, read);
    read += chunk.length;
  }
  return { bytes, digest: Digest.parse(`sha256:${sha256.digest("hex")}`) };
}
