import { type Digest, digestOf } from "../../core/digest.ts";
import type { ArchiveLimits } from "../archive/unpack.ts";
import { BucketFault, type ListedObject } from "./object-store.ts";

/** The limit for the keys and etags of an index. */
export const maxIndexBytes = 32 * 1024 * 1024;

/** What counts of an object. */
export type IndexedObject = Pick<ListedObject, "etag" | "size">;

/** The objects of a bucket that belong to its artifact. Their keys and etags are its revision (reference sources 8.3). */
export interface BucketIndex {
  /** An object that is there already gets the new etag and size. Throws a {@link BucketFault} beyond the limits. */
  add(object: ListedObject): void;
  remove(key: string): void;
  readonly objects: ReadonlyMap<string, IndexedObject>;
  /** One line `<key> <etag>` for each object, sorted by the bytes of the keys. Its digest is the revision. */
  text(): string;
  revision(): Digest;
}

export function bucketIndex({ maxEntries }: Pick<ArchiveLimits, "maxEntries">): BucketIndex {
  const objects = new Map<string, IndexedObject>();
  let bytes = 0;
  const text = (): string =>
    Array.from(objects, ([key, { etag }]) => ({ line: `${key} ${etag}\n`, order: Buffer.from(key) }))
      .toSorted((a, b) => Buffer.compare(a.order, b.order))
      .map(({ line }) => line)
      .join("");
  return {
    objects,
    add({ key, etag, size }) {
      bytes += key.length + etag.length - (objects.has(key) ? key.length + (objects.get(key)?.etag.length ?? 0) : 0);
      // A copy: what is cut out of a page would keep all of the page in memory.
      objects.set(copyOf(key), { etag: copyOf(etag), size });
      const mend = "leave some out with spec.ignore, or set spec.prefix";
      if (objects.size > maxEntries)
        throw new BucketFault("limit", `more than ${maxEntries} objects to fetch: ${mend}`);
      if (bytes > maxIndexBytes)
        throw new BucketFault(
          "limit",
          `the keys of the objects to fetch have more than ${maxIndexBytes} bytes: ${mend}`,
        );
    },
    remove: (key) => void objects.delete(key),
    text,
    revision: () => digestOf(text()),
  };
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

/**
 * The etags of an index by key, as {@link BucketIndex.text} has them; undefined if the text is ambiguous: a key may hold a line end. For
 * one that was stored before.
 */
export function readIndex(text: string): ReadonlyMap<string, string> {
  const etags = new Map<string, string>();
  for (const line of text.split("\n")) {
    const space = line.lastIndexOf(" ");
    if (space > 0) etags.set(line.slice(0, space), line.slice(space + 1));
  }
  return etags;
}

/** Whether {@link readIndex} reads the text of these objects as it is meant. */
export function isReadable(objects: ReadonlyMap<string, IndexedObject>): boolean {
  return Array.from(objects).every(([key, { etag }]) => !key.includes("\n") && !/[\n ]/.test(etag));
}
