import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rm, truncate } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { RegistryError } from "./registry-error.ts";
import { moveInto, type RegistryFiles, sizeIfThere, writeWhole } from "./registry-files.ts";

/**
 * The largest blob taken; the same as Amazon ECR's limit for a layer.
 *
 * @public Read for docs/limits.md.
 */
export const maxBlobBytes = 52_000 * 1024 * 1024;

/** Begun uploads are files whose length is their offset, so they go on after a restart. */
export interface Uploads {
  begin(repository: string): Promise<string>;
  /** Bytes received so far. */
  offset(repository: string, id: string): Promise<number>;
  /** Appends; `start` is where the client thinks the upload stands. Answers the new offset. */
  append(repository: string, id: string, body: Readable, start: number | undefined): Promise<number>;
  /** Ends the upload as a blob of this repository. */
  finish(repository: string, id: string, digest: string): Promise<void>;
  cancel(repository: string, id: string): Promise<void>;
}

export function uploadsIn(files: RegistryFiles): Uploads {
  const writing = new Set<string>();
  const offset = async (repository: string, id: string): Promise<number> => {
    const size = await sizeIfThere(files.upload(repository, id));
    if (size === undefined) throw new RegistryError(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry");
    return size;
  };
  return {
    offset,
    async begin(repository) {
      const id = randomUUID();
      await writeWhole(files, files.upload(repository, id), "");
      return id;
    },
    async append(repository, id, body, start) {
      const path = files.upload(repository, id);
      const before = await offset(repository, id);
      if (start !== undefined && start !== before) {
        throw new RegistryError(416, "RANGE_INVALID", `the upload stands at byte ${before}, not ${start}`);
      }
      if (writing.has(path)) throw new RegistryError(416, "RANGE_INVALID", "another request is writing to this upload");
      writing.add(path);
      try {
        await appendAll(path, body, maxBlobBytes - before);
      } catch (error) {
        // A chunk that broke off is sent again from its start, so it must not count. Why it broke off says more than this does.
        await truncate(path, before).catch(() => undefined);
        throw error;
      } finally {
        writing.delete(path);
      }
      return offset(repository, id);
    },
    async finish(repository, id, digest) {
      await offset(repository, id);
      const path = files.upload(repository, id);
      const found = await digestOfFile(path, digest);
      if (found !== digest) {
        await rm(path, { force: true });
        throw new RegistryError(400, "DIGEST_INVALID", "provided digest did not match uploaded content", {
          Digest: digest,
          Reason: `content is ${found}`,
        });
      }
      await moveInto(path, files.blob(digest));
      await writeWhole(files, files.blobLink(repository, digest), "");
    },
    async cancel(repository, id) {
      await offset(repository, id);
      await rm(files.upload(repository, id), { force: true });
    },
  };
}

async function digestOfFile(path: string, like: string): Promise<string> {
  const algorithm = like.startsWith("sha512:") ? "sha512" : "sha256";
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash);
  return `${algorithm}:${hash.digest("hex")}`;
}

async function appendAll(path: string, body: AsyncIterable<Buffer>, maxBytes: number): Promise<void> {
  await using file = await open(path, "a");
  const faults: unknown[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RegistryError(413, "SIZE_INVALID", `a blob may have ${maxBlobBytes} bytes at most`);
    // What cannot be written is still read: a client that cannot send its body to the end never sees the answer.
    if (faults.length === 0) await file.appendFile(chunk).catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
}
