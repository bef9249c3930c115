import { Readable } from "node:stream";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { AwsFault, awsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { bucketAction, objectIn, type S3Bucket } from "./s3-bucket.ts";

const limitMs = 60_000;

export interface StoredObject {
  readonly bytes: Uint8Array;
  /** Names this very content, for a write that replaces it. */
  readonly etag: string;
}

/** A whole object of at most `maxBytes`; undefined where there is none. */
export async function readObject(
  bucket: S3Bucket,
  key: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const action = bucketAction("s3:GetObject", bucket);
  const tooLarge = (): AwsFault =>
    new AwsFault("refused", "", `${action.name} on ${action.resource}: ${key} is longer than ${maxBytes} bytes`);
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
      const { Body: body, ContentLength: length = 0, ETag: etag = "" } = found;
      if (!(body instanceof Readable)) throw new TypeError("Node gives a stream");
      if (length > maxBytes) {
        body.destroy();
        throw tooLarge();
      }
      const onAbort = (): void => void body.destroy(new Error("given up"));
      options.abortSignal.addEventListener("abort", onAbort, { once: true });
      try {
        const chunks: Uint8Array[] = [];
        let read = 0;
        for await (const chunk of body) {
          if (!(chunk instanceof Uint8Array)) throw new TypeError("a stream without encoding gives bytes");
          read += chunk.length;
          if (read > maxBytes) throw tooLarge();
          chunks.push(chunk);
        }
        return { bytes: Buffer.concat(chunks, read), etag };
      } finally {
        options.abortSignal.removeEventListener("abort", onAbort);
      }
    },
    signal,
    limitMs,
  );
}
