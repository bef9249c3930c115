import { mapLimit } from "../../core/concurrency.ts";
import type { ArchiveLimits } from "../archive/unpack.ts";
import type { BucketIndex } from "./bucket-index.ts";
import { BucketFault, type ObjectStore } from "./object-store.ts";
import type { Phase } from "./phase.ts";

/** Objects that are downloaded at the same time. */
const parallelDownloads = 16;
const tarBlockBytes = 512;

/** The content, by key, of objects of an index that was stored before at the etags of that index. */
export type Stored = ReadonlyMap<string, Uint8Array>;

/**
 * The content of every object of the index: what was stored before at the same etag, and the rest from the bucket. An object that is
 * gone meanwhile leaves the index; one that was replaced gets the etag of what was taken. Throws a {@link BucketFault} that names the key.
 *
 * @param gone called with the keys that are gone
 */
export async function fetchObjects(
  index: BucketIndex,
  {
    store,
    stored,
    limits,
    gone,
  }: {
    readonly store: Pick<ObjectStore, "get">;
    readonly stored: Stored;
    readonly limits: Pick<ArchiveLimits, "maxBytes">;
    readonly gone: (key: string) => void;
  },
  phase: Phase,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  let taken = 0;
  const keep = (key: string, content: Uint8Array): void => {
    contents.set(key, content);
    taken += bytesInTar(content.length);
  };
  const missing: { readonly key: string; readonly size: number }[] = [];
  let bytes = 0;
  for (const [key, { size }] of index.objects) {
    const known = stored.get(key);
    if (known === undefined) missing.push({ key, size });
    else keep(key, known);
    bytes += bytesInTar(known?.length ?? size);
  }
  if (bytes > limits.maxBytes) throw tooLarge(limits);

  const take = (key: string, content: Awaited<ReturnType<ObjectStore["get"]>>): void => {
    if (content === undefined) {
      index.remove(key);
      gone(key);
      return;
    }
    index.add({ key, etag: content.etag, size: content.bytes.length });
    keep(key, content.bytes);
  };
  const grown: string[] = [];
  const fetchListed = async ({ key, size }: (typeof missing)[number], stop: AbortSignal): Promise<void> => {
    try {
      take(key, await get(store, key, size, { ...phase, signal: stop }));
    } catch (error) {
      if (!(error instanceof BucketFault && error.reason === "too-large")) throw error;
      grown.push(key);
    }
  };
  await mapLimit(missing, parallelDownloads, fetchListed, phase.signal);
  // Longer than the listing says: one by one, so that no more than the limit is in memory.
  for (const key of grown) {
    try {
      take(key, await get(store, key, Math.max(limits.maxBytes - taken - tarBlockBytes, 0), phase));
    } catch (error) {
      if (!(error instanceof BucketFault && error.reason === "too-large")) throw error;
      throw tooLarge(limits);
    }
  }
  return contents;
}

async function get(store: Pick<ObjectStore, "get">, key: string, maxBytes: number, phase: Phase) {
  return store.get(key, maxBytes, phase).catch((error: unknown) => {
    if (!(error instanceof BucketFault) || error.reason === "too-large") throw error;
    throw new BucketFault(error.reason, `failed to get '${key}' object: ${error.message}`, { cause: error });
  });
}

/** With its header. */
function bytesInTar(length: number): number {
  return tarBlockBytes + Math.ceil(length / tarBlockBytes) * tarBlockBytes;
}

function tooLarge({ maxBytes }: Pick<ArchiveLimits, "maxBytes">): BucketFault {
  return new BucketFault(
    "limit",
    `the objects have more than ${maxBytes} bytes in a tar: leave some out with spec.ignore`,
  );
}
