import type { Artifact } from "../../api/source.ts";
import { Digest, digestOf } from "../../core/digest.ts";
import { storeOutage } from "../../core/ports/outage.ts";
import type { TreeEntry } from "../../sources/archive/pack-tar.ts";
import { type ArchiveLimits, unpack } from "../../sources/archive/unpack.ts";
import { type BucketIndex, isReadable, readIndex } from "../../sources/bucket/bucket-index.ts";
import type { Stored } from "../../sources/bucket/fetch-objects.ts";
import type { SourceContext } from "../source/source-context.ts";

// The index of an artifact is stored with it, so that the next run downloads only changed objects. Its digest is the revision, so the
// status names it. That our own flow has made just this artifact of just this index is recorded under the digest of both: a person
// who can write a status cannot pair them differently.

/** What is recorded with an artifact: its index, and that they belong together. */
export function recordedBeside({ digest, revision }: Pick<Artifact, "digest" | "revision">): readonly Digest[] {
  const index = Digest.safeParse(revision);
  return index.success ? [index.data, pairOf(digest, revision)] : [];
}

function pairOf(digest: string, revision: string): Digest {
  return digestOf(`${digest} of ${revision}`);
}

/** Stores the index of an artifact that is about to be stored. Without it the next run downloads everything. */
export async function storeIndex(
  index: BucketIndex,
  digest: Digest,
  { deps, live, run }: SourceContext,
): Promise<void> {
  if (index.objects.size === 0 || !isReadable(index.objects)) return;
  const revision = index.revision();
  const unstored = storeOutage("ArchiveOperationFailed", "unable to archive artifact to storage", run.signal);
  await deps.artifacts.put(revision, Buffer.from(index.text()), run.signal).catch(unstored);
  for (const one of recordedBeside({ digest, revision })) {
    await deps.records.record(run.key, live.metadata.uid, one, run.fence, run.signal);
  }
}

/**
 * The content of the objects of the index that the stored artifact holds at the same etag. Nothing is known if there is no artifact,
 * if its index is gone, or if either is unreadable.
 *
 * @param pathOf the path of a key in the artifact
 */
export async function storedContent(
  { objects }: Pick<BucketIndex, "objects">,
  pathOf: (key: string) => string | undefined,
  limits: ArchiveLimits,
  ctx: SourceContext,
): Promise<Stored> {
  const { deps, live, run } = ctx;
  const { artifact } = ctx.status();
  const [digest, revision] = [Digest.safeParse(artifact?.digest), Digest.safeParse(artifact?.revision)];
  if (artifact === undefined || !digest.success || !revision.success) return new Map();
  const isRecorded = (one: Digest): Promise<boolean> =>
    deps.records.recorded(run.key, live.metadata.uid, one, run.signal);
  if (!(await isRecorded(pairOf(artifact.digest, artifact.revision)))) return new Map();
  const unread = storeOutage("StorageOperationFailed", "unable to read artifact from storage", run.signal);
  const text = await deps.artifacts.get(revision.data, run.signal).catch(unread);
  const packed = await deps.artifacts.get(digest.data, run.signal).catch(unread);
  if (text === undefined || packed === undefined) return new Map();
  const etags = readIndex(Buffer.from(text).toString());
  const unchanged = new Map<string, string>();
  for (const [key, { etag }] of objects) {
    const path = etags.get(key) === etag ? pathOf(key) : undefined;
    if (path !== undefined) unchanged.set(path, key);
  }
  try {
    return contentOf([...(await unpack(packed, limits, run.signal)).entries], unchanged);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Everything is downloaded then.
    deps.log.warn("the stored artifact of a bucket cannot be read", { ...run.key, revision: artifact.revision });
    return new Map();
  }
}

/**
 * The content of the files of these keys, by key. It empties the entries, so that the rest of the archive is not in memory while the
 * other objects are downloaded.
 *
 * @internal Exported for its tests.
 */
export function contentOf(entries: TreeEntry[], keyByPath: ReadonlyMap<string, string>): Stored {
  const contents = new Map<string, Uint8Array>();
  for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
    const key = entry.type === "file" ? keyByPath.get(entry.path) : undefined;
    // A copy: what is cut out of a piece of the archive would keep all of the piece in memory.
    if (entry.type === "file" && key !== undefined) contents.set(key, new Uint8Array(entry.bytes));
  }
  return contents;
}
