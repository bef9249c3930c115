import { type Digest, digestOf } from "../../core/digest.ts";
import { archiveWhole, type UnreadEntry } from "../../sources/archive/archive-tree.ts";
import type { ArchiveLimits } from "../../sources/archive/unpack.ts";
import type { BucketIndex } from "../../sources/bucket/bucket-index.ts";
import { fetchObjects } from "../../sources/bucket/fetch-objects.ts";
import { ignoreKey } from "../../sources/bucket/list-objects.ts";
import type { ObjectContent, ObjectStore } from "../../sources/bucket/object-store.ts";
import type { Phase } from "../../sources/bucket/phase.ts";
import { placeObjects } from "../../sources/bucket/place-objects.ts";
import type { SourceContext } from "../source/source-context.ts";
import type { Pulled } from "../source/source-kind.ts";
import { inWords } from "./in-words.ts";
import { storedContent, storeIndex } from "./stored-index.ts";

/** The inputs of an artifact. */
interface Pulling {
  readonly store: ObjectStore;
  readonly index: BucketIndex;
  /** The root `.sourceignore`, which is in the artifact and not in the index. */
  readonly ignoreFile: ObjectContent | undefined;
  readonly limits: ArchiveLimits;
  readonly phase: Phase;
}

/** The content of the objects, before it is packed. The index has then what was really taken. */
export interface Fetched {
  pack(): Promise<Pulled>;
}

/** Fetches the objects that have changed. Throws a `Failure` with Flux's text. */
export async function fetchContent(
  bucket: string,
  { store, index, ignoreFile, limits, phase }: Pulling,
  ctx: SourceContext,
): Promise<Fetched> {
  const { deps, run } = ctx;
  const { signal } = run;
  const { paths, contents } = await inWords(`fetch from bucket '${bucket}' failed`, async () => {
    const keys = [...index.objects.keys(), ...(ignoreFile === undefined ? [] : [ignoreKey])];
    const placed = placeObjects(keys, limits);
    const stored = await storedContent(index, (key) => placed.get(key), limits, ctx);
    const gone = (key: string): void => deps.log.info("an object has gone since it was listed", { ...run.key, key });
    return { paths: placed, contents: await fetchObjects(index, { store, stored, limits, gone }, phase) };
  });
  return {
    async pack() {
      const all = new Map(contents);
      if (ignoreFile !== undefined) all.set(ignoreKey, ignoreFile.bytes);
      const bytes = await archiveWhole(entriesOf(paths, all), signal);
      const digest: Digest = digestOf(bytes);
      await storeIndex(index, digest, ctx);
      return { bytes, digest, metadata: {}, links: [] };
    },
  };
}

const fileMode = 0o600;

/** The files, and the folders on the way to them. */
function entriesOf(
  paths: ReadonlyMap<string, string>,
  contents: ReadonlyMap<string, Uint8Array>,
): readonly UnreadEntry[] {
  const folders = new Set<string>();
  const files: UnreadEntry[] = [];
  for (const [key, bytes] of contents) {
    const path = paths.get(key) ?? key;
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    files.push({ type: "file", path, mode: fileMode, read: async () => bytes });
  }
  return [...Array.from(folders, (path): UnreadEntry => ({ type: "directory", path })), ...files];
}
